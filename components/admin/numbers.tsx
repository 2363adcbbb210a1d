import { figures as contract, type Figures } from '@/contract/operator'
import { Disclosure } from '../ui/disclosure'
import { Facts } from './facts'
import { Part } from './part'

interface NumbersProps {
  figures: Figures
  /** A larger count is shown as “more than this”. */
  maxCounted: number
}

const NAMES = Object.keys(contract.shape) as (keyof Figures)[]

/** The counts of what is open or waits. Those that are zero are folded. */
export function Numbers({ figures, maxCounted }: NumbersProps) {
  const shown = (names: (keyof Figures)[]) => (
    <Facts
      of={contract}
      row={figures}
      fields={Object.fromEntries(names.map((name) => [name, (row: Figures) => text(row[name], maxCounted)]))}
    />
  )
  const zeros = NAMES.filter((name) => figures[name] === 0)
  return (
    <Part title="In numbers">
      {shown(NAMES.filter((name) => figures[name] !== 0))}
      {zeros.length > 0 && <Disclosure summary={`${zeros.length} counts are zero`}>{shown(zeros)}</Disclosure>}
    </Part>
  )
}

function text(count: number | null, max: number): string {
  if (count === null) return 'unknown'
  return count > max ? `${max.toLocaleString('en')}+` : count.toLocaleString('en')
}
