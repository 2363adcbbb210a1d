import { Card, CardBody, CardHeader } from '../ui/card'
import { LocalTime } from '../ui/local-time'

const DAY_MS = 24 * 60 * 60 * 1000

const phases = [
  {
    when: 'At once',
    what: 'You are signed out everywhere, and nobody can sign in any more. Access tokens and connected applications lose their access. A pending email change is cancelled.',
  },
  {
    when: 'Within the hour',
    what: 'Your profile, your preferences, your password and everything else you signed in with are deleted.',
  },
  {
    when: 'Within a day',
    what: 'Connected applications are told to remove you, and what you shared with them is deleted.',
  },
  {
    when: 'Within 7 days',
    what: 'Backups are deleted together with the key that opens them; so are logs, transactions, analytics and cached data, except for what you choose to keep.',
  },
]

export function WhatHappens() {
  return (
    <Card>
      <CardHeader
        title="What is deleted, and when"
        description="Counted from the moment you confirm. You can follow every step, without signing in."
      />
      <CardBody>
        <Rows rows={phases.map(({ when, what }) => [when, what])} />
      </CardBody>
    </Card>
  )
}

const keptByLaw = [
  ['Transaction audit logs', 'So that past payments can be accounted for.'],
  ['Security incident logs', 'So that attacks can still be investigated.'],
  ['Legal compliance data', 'So that we can prove that we did what you asked.'],
] as const

export function WhatStays({ retentionDays, today }: { retentionDays: number; today: Date }) {
  const until = new Date(today.getTime() + retentionDays * DAY_MS).toISOString()
  return (
    <Card>
      <CardHeader
        title={`What stays for ${retentionDays} days, and why`}
        description="Under a pseudonym, without your name, your addresses or your IP address."
      />
      <CardBody className="space-y-5">
        <Rows rows={keptByLaw} />
        <p className="text-ink-muted">
          If you begin today, this is deleted on <LocalTime dateTime={until} format="date" />. From then on we only know
          that an account was withdrawn: a number, the times, and which reason was chosen.
        </p>
      </CardBody>
    </Card>
  )
}

export function ToldApplications({ names }: { names: readonly string[] }) {
  return (
    <Card>
      <CardHeader
        title="Applications that will be told"
        description={
          names.length
            ? 'They lose access at once. Within a day each is asked to remove you, and asked again until it confirms.'
            : 'No application is connected to your account.'
        }
      />
      <CardBody className="pt-3">
        {names.length > 0 && (
          <ul className="flex flex-wrap gap-2">
            {[...new Set(names)].map((name) => (
              <li key={name} className="wrap-anywhere rounded-lg border border-line px-3 py-1.5 font-medium">
                {name}
              </li>
            ))}
          </ul>
        )}
      </CardBody>
    </Card>
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
