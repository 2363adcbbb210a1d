import { ArrowDown, Check } from 'lucide-react'
import { Badge } from '@/components/ui/badge'
import { pageTexts } from '@/server/pages/language'

const DIGITS = ['0', '4', '2', '1', '3', '7']

/** A picture of a change, drawn with the parts of the real page. Screen readers skip it, because the text says the same. */
export async function Specimen() {
  const t = await pageTexts('Landing')
  return (
    <div aria-hidden className="relative hidden select-none lg:block">
      <div className="rounded-2xl border border-line bg-surface px-5 py-4 shadow-rest">
        <div className="flex items-center justify-between">
          <span className="text-ink-muted">ada@example.com</span>
          <Badge>{t('specimenCurrent')}</Badge>
        </div>
      </div>
      <div className="relative mx-auto h-10 w-px bg-line">
        <span className="absolute top-1.5 left-1/2 grid size-7 -translate-x-1/2 place-items-center rounded-full border border-line bg-surface">
          <ArrowDown className="size-4 text-ink-muted" />
        </span>
      </div>
      <div className="rounded-2xl border border-line bg-surface p-5 shadow-lift">
        <div className="flex items-center justify-between">
          <span className="font-medium">ada.new@example.com</span>
          <Badge tone="success">
            <Check /> {t('specimenConfirmed')}
          </Badge>
        </div>
        <div dir="ltr" className="mt-5 flex justify-between">
          {DIGITS.map((digit) => (
            <span
              key={digit}
              className="grid h-13 w-11 place-items-center rounded-lg border border-line bg-canvas font-medium font-mono text-[1.375rem]"
            >
              {digit}
            </span>
          ))}
        </div>
      </div>
    </div>
  )
}
