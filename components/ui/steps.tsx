'use client'

import { Check, ChevronDown } from 'lucide-react'
import type { ReactNode } from 'react'
import { useTranslations } from 'use-intl/react'
import type { StepStatus } from '@/contract/withdrawal'
import { cn } from './class-names'

export interface Step {
  id: string
  title: string
  description?: ReactNode
  /** `none`: there is nothing to do. */
  state: StepStatus | 'none'
  /** The time of completion, actual or expected: a `<LocalTime>` or a sentence around one. */
  time?: ReactNode
  /** The result of the step. */
  outcome?: ReactNode
}

const colours = {
  completed: 'text-success',
  processing: 'text-accent',
  pending: 'text-ink-muted',
  none: 'text-ink-muted',
}

/** A vertical list of steps. Each shows its state as a mark and in words, and one that is done unfolds what it did. */
export function Steps({ steps, label }: { steps: readonly Step[]; label: string }) {
  return (
    <ol aria-label={label}>
      {steps.map((step) => (
        <li key={step.id} className="group flex gap-4" aria-current={step.state === 'processing' ? 'step' : undefined}>
          <div className="flex flex-col items-center">
            <StepMark state={step.state} />
            <span
              className={cn(
                'w-px flex-1 group-last:hidden',
                step.state === 'completed' ? 'bg-success' : 'bg-line-control/40',
              )}
              aria-hidden
            />
          </div>
          <div className="min-w-0 flex-1 pb-7 group-last:pb-0">
            {step.state === 'completed' ? (
              <details className="group/step print:details-content:[content-visibility:visible]">
                {/* As high as a finger, without moving the words away from their mark. */}
                <summary className="-my-2.5 flex list-none items-start gap-x-2 rounded-lg py-2.5 [&::-webkit-details-marker]:hidden">
                  <StepHead step={step} />
                  <ChevronDown
                    className="mt-1 size-4 shrink-0 text-ink-muted transition-transform group-open/step:rotate-180"
                    aria-hidden
                  />
                </summary>
                <StepBody step={step} />
              </details>
            ) : (
              <>
                <div className="flex">
                  <StepHead step={step} />
                </div>
                <StepBody step={step} />
              </>
            )}
          </div>
        </li>
      ))}
    </ol>
  )
}

function StepHead({ step: { title, state } }: { step: Step }) {
  const t = useTranslations('Common')
  return (
    <span className="flex min-w-0 flex-1 flex-wrap items-baseline justify-between gap-x-4">
      <span className={cn('font-medium', (state === 'pending' || state === 'none') && 'text-ink-muted')}>{title}</span>
      {state !== 'none' && <span className={cn('text-sm', colours[state])}>{t(`steps.${state}`)}</span>}
    </span>
  )
}

const StepBody = ({ step: { description, time, outcome } }: { step: Step }) => (
  <>
    {description && <p className="mt-0.5 text-ink-muted text-sm">{description}</p>}
    {time && <p className="mt-0.5 text-ink-muted text-sm tabular-nums">{time}</p>}
    {outcome && <div className="mt-1.5 space-y-0.5 text-sm tabular-nums">{outcome}</div>}
  </>
)

function StepMark({ state }: Pick<Step, 'state'>) {
  if (state === 'completed')
    return (
      <span
        className="grid size-6 shrink-0 place-items-center rounded-full bg-success text-surface forced-color-adjust-none"
        aria-hidden
      >
        <Check className="size-3.5 stroke-3" />
      </span>
    )
  return (
    <span
      className={cn(
        'grid size-6 shrink-0 place-items-center rounded-full border-2 forced-color-adjust-none',
        state === 'processing' ? 'border-accent' : 'border-line-control/50',
      )}
      aria-hidden
    >
      {state === 'none' && <span className="h-0.5 w-2.5 bg-line-control" />}
      {state === 'processing' && <span className="size-2 animate-pulse rounded-full bg-accent" />}
    </span>
  )
}
