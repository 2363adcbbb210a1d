import type { Step } from '@/contract/withdrawal'
import { Card, CardBody, CardHeader } from '../ui/card'
import { inWords } from '../ui/duration'
import { LocalTime } from '../ui/local-time'
import { inOrder, STEP_TEXTS } from './step-texts'

const DAY_MS = 24 * 60 * 60 * 1000

interface WhatHappensProps {
  /** The time by which each step should be done, counted from the start; 0 for what the request itself does. */
  steps: readonly { step: Step; withinMs: number }[]
  retentionDays: number
}

export function WhatHappens({ steps, retentionDays }: WhatHappensProps) {
  return (
    <Card>
      <CardHeader
        title="What is deleted, and when"
        description="Counted from the moment you confirm. You can follow every step, without signing in."
      />
      <CardBody>
        <Rows
          rows={inOrder(steps).map(({ step, withinMs }) => [
            withinMs ? `Within ${inWords(withinMs / 1000)}` : 'At once',
            STEP_TEXTS[step].announcement(retentionDays),
          ])}
        />
      </CardBody>
    </Card>
  )
}

const kept = [
  ['Transaction audit logs', 'So that past payments can be accounted for.'],
  ['Security incident logs', 'So that attacks can still be investigated.'],
  ['Legal compliance data', 'So that we can prove that we did what you asked.'],
  [
    'The record of this deletion',
    'The number of your account, your feedback, and fingerprints of the sessions and tokens that ended, so that you can follow it.',
  ],
] as const

export function WhatStays({ retentionDays, today }: { retentionDays: number; today: Date }) {
  const until = new Date(today.getTime() + retentionDays * DAY_MS).toISOString()
  return (
    <Card>
      <CardHeader
        title={`What stays for ${retentionDays} days, and why`}
        description="The logs stay under a pseudonym, without your name, your addresses or your IP address."
      />
      <CardBody className="space-y-5">
        <Rows rows={kept} />
        <p className="text-ink-muted">
          If you begin today, this is deleted on <LocalTime dateTime={until} format="date" />. From then on we only know
          that an account was withdrawn: the number of the withdrawal, its times, and which reason was chosen. A list
          outside the database keeps that number, the start, what you chose to keep, and a keyed pseudonym of your
          account, so that a restored backup cannot bring you back. For an application that has not confirmed by then we
          also keep the name by which it knows you, until it confirms.
        </p>
      </CardBody>
    </Card>
  )
}

interface ToldApplicationsProps {
  applications: readonly { name: string; isToldAtOnce: boolean }[]
}

export function ToldApplications({ applications }: ToldApplicationsProps) {
  const namesOf = (atOnce: boolean) => [
    ...new Set(applications.filter(({ isToldAtOnce }) => isToldAtOnce === atOnce).map(({ name }) => name)),
  ]
  return (
    <Card>
      <CardHeader
        title="Applications that will be told"
        description={
          applications.length
            ? 'Within a day each is asked to remove you, and asked again until it confirms.'
            : 'No application is connected to your account.'
        }
      />
      {applications.length > 0 && (
        <CardBody className="space-y-5 pt-3">
          <Names title="Told at once, so that your access ends there" names={namesOf(true)} />
          <Names title="Told within a day" names={namesOf(false)} />
        </CardBody>
      )}
    </Card>
  )
}

function Names({ title, names }: { title: string; names: string[] }) {
  if (names.length === 0) return null
  return (
    <div className="space-y-2">
      <h3 className="text-ink-muted text-sm">{title}</h3>
      <ul className="flex flex-wrap gap-2">
        {names.map((name) => (
          <li key={name} className="wrap-anywhere rounded-lg border border-line px-3 py-1.5 font-medium">
            {name}
          </li>
        ))}
      </ul>
    </div>
  )
}

function Rows({ rows }: { rows: readonly (readonly [string, string])[] }) {
  return (
    <dl className="divide-y divide-line sm:grid sm:grid-cols-[max-content_1fr]">
      {rows.map(([term, text]) => (
        <div key={term} className="gap-x-8 py-3 first:pt-0 last:pb-0 sm:col-span-2 sm:grid sm:grid-cols-subgrid">
          <dt className="font-medium">{term}</dt>
          <dd className="text-ink-muted">{text}</dd>
        </div>
      ))}
    </dl>
  )
}
