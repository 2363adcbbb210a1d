import type { ReactNode } from 'react'
import { Card, CardBody, CardHeader } from '../ui/card'
import { LocalTime } from '../ui/local-time'
import type { App } from './app-list'
import { FactGrid } from './fact-grid'
import { StepName } from './step-name'

const AUDIENCES = { connected: 'Users that are connected to it', everyone: 'Every user' }
const ACKNOWLEDGEMENTS = { at_once: 'With its answer', later: 'Later, by a report' }

export function AppFacts({ app }: { app: App }) {
  const facts: Record<string, ReactNode> = {
    Id: app.app_id,
    'Notified about': AUDIENCES[app.audience],
    'Ends a deletion task': ACKNOWLEDGEMENTS[app.acknowledges],
    'Deletion step': <StepName step={app.phase} />,
    Events: app.events.join(', '),
    'Addresses in events': app.includes.includes('addresses') ? 'Yes' : 'No',
    'Own reasons to waive a task': app.waive_reasons.join(' · ') || 'None',
    'Asked before a withdrawal': app.checks ? 'Yes' : 'No',
    'Asked whether the person is absent': app.confirms ? 'Yes' : 'No',
    'Events waiting': app.deliveries.waiting.toLocaleString('en'),
    'Dead letters': app.deliveries.dead.toLocaleString('en'),
    'Open deletion tasks': app.open_tasks.toLocaleString('en'),
  }
  if (app.previous_secret_until)
    facts['The secret before signs until'] = <LocalTime dateTime={app.previous_secret_until} />
  return (
    <Card>
      <CardHeader title="Settings" description={app.disabled_at ? 'Disabled: it gets no messages.' : undefined} />
      <CardBody>
        <FactGrid facts={facts} />
      </CardBody>
    </Card>
  )
}
