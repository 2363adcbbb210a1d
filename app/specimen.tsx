import { ArrowDown, Check } from 'lucide-react'
import { Badge } from '@/components/ui/badge'
import { pageTexts } from '@/server/pages/language'

const STEPS = ['bg-success', 'bg-success', 'bg-accent', 'bg-line']

/** A picture of a change and a deletion, drawn like the real pages. Screen readers skip it, because the text says the same. */
export async function Specimen() {
  const t = await pageTexts('Landing')
  const common = await pageTexts('Common')
  const deletion = await pageTexts('Deletion')
  return (
    <div aria-hidden className="w-full max-w-96 select-none">
      <p className="mb-3 px-card text-ink-muted text-sm">{t('specimen')}</p>
      <div className="rounded-2xl border border-line bg-surface px-card py-4 shadow-rest">
        <div className="flex flex-wrap items-center justify-between gap-x-2 gap-y-1">
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
        <div className="flex flex-wrap items-center justify-between gap-x-2 gap-y-1">
          <span className="wrap-anywhere min-w-0 font-medium">ada.new@example.com</span>
          <Badge tone="success">
            <Check /> {t('specimenConfirmed')}
          </Badge>
        </div>
      </div>
      <div className="mt-8 flex flex-wrap items-center gap-x-4 gap-y-1 rounded-2xl border border-line bg-surface px-card py-4 text-ink-muted text-sm shadow-rest">
        <span>{common('sections.deleteAccount')}</span>
        <span className="flex min-w-16 flex-1 gap-1.5">
          {STEPS.map((color, step) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: the steps of a picture
            <span key={step} className={`h-1 flex-1 rounded-full ${color}`} />
          ))}
        </span>
        <span>{deletion('count', { done: 2, all: STEPS.length })}</span>
      </div>
    </div>
  )
}
