import Link from 'next/link'
import * as contract from '@/contract/operator'
import { capped } from '@/contract/words'
import { cn } from '../ui/class-names'
import { Disclosure } from '../ui/disclosure'
import { textLink } from '../ui/text-link'
import { Facts } from './facts'
import { Part } from './part'

type Name = keyof contract.Figures

/** The pages that have the rows of a count. */
const PAGES: Partial<Record<Name, string>> = {
  waiting_deliveries: '/admin/apps',
  due_steps: '/admin/withdrawals',
  soon_due: '/admin/withdrawals',
  processing: '/admin/withdrawals',
  completed: '/admin/withdrawals?state=completed',
  purged: '/admin/withdrawals?state=purged',
}

/** What the service counts and the page does not say above. What is zero is folded. */
export function Numbers({ figures }: { figures: contract.Figures }) {
  const zeros = contract.COUNTS.filter((name) => figures[name] === 0)
  const others = contract.COUNTS.filter((name) => figures[name] !== 0)
  return (
    <Part title="In numbers">
      <Counts names={others} figures={figures} />
      {zeros.length > 0 && (
        <Disclosure summary={`${zeros.length} other counts, all zero`}>
          <Counts names={zeros} figures={figures} />
        </Disclosure>
      )}
    </Part>
  )
}

const Counts = ({ names, figures }: { names: readonly Name[]; figures: contract.Figures }) => (
  <Facts
    of={contract.figures}
    row={figures}
    fields={Object.fromEntries(names.map((name) => [name, linkedCount(name)]))}
    // Each number beside its label, and those of both lists below each other.
    className="@max-lg:*:flex @max-lg:*:items-start @max-lg:*:justify-between @max-lg:*:gap-4 @max-lg:[&_dd]:shrink-0 @lg:grid-cols-[minmax(0,24rem)_1fr]!"
  />
)

const linkedCount = (name: Name) => (figures: contract.Figures) => {
  const number = capped(figures[name], contract.MAX_COUNTED)
  const page = figures[name] !== 0 && PAGES[name]
  return page ? (
    <Link href={page} className={cn(textLink, 'inline-block min-w-6 max-sm:text-end')}>
      {number}
    </Link>
  ) : (
    number
  )
}
