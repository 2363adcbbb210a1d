import type { getApp } from '@/contract/apps'
import type { Answer } from '@/contract/define'
import type { TroubledApp } from '@/contract/operator'
import type { ShownTask } from '@/contract/tasks'
import { count } from '@/contract/words'
import { Disclosure } from '../ui/disclosure'
import { LocalTime } from '../ui/local-time'
import { Removal } from './command'
import { Enable, OperatorButton } from './operator-button'
import { Part } from './part'
import { RetryTasks } from './task-table'
import { DisabledSince, Trouble } from './trouble'

const WHILE_DISABLED = 'It gets no messages while it is disabled.'

interface AppActionsProps {
  app: Answer<typeof getApp>
  /** What is wrong with it. */
  trouble: TroubledApp | undefined
  openTasks: readonly ShownTask[]
}

/** What is wrong with an application, and what an operator can do. */
export const AppActions = ({ app, trouble, openTasks }: AppActionsProps) => (
  <Part title="Actions" description={app.endpoint && 'A ping is a signed test call, which deletes nothing.'}>
    <p className="mb-3 text-ink-muted empty:hidden">
      {app.disabled_at && (
        <>
          <DisabledSince time={app.disabled_at} />{' '}
        </>
      )}
      {trouble && <Trouble app={trouble} lastFetchedAt={app.last_asked_at} />}
    </p>
    <div className="flex flex-wrap gap-3">
      <RetryTasks tasks={openTasks} of={app.name} />
      {app.endpoint && (
        <OperatorButton
          operation="pingApp"
          params={{ appId: app.app_id }}
          label="Ping"
          of={new URL(app.endpoint).host}
        />
      )}
      {app.deliveries.dead > 0 && (
        <OperatorButton
          operation="resendDeadLetters"
          params={{ appId: app.app_id }}
          label="Send again what was given up"
        />
      )}
      {app.endpoint && (
        <OperatorButton
          operation="rotateAppSecret"
          params={{ appId: app.app_id }}
          label="Rotate secret"
          ask={{
            question: `Rotate the signing secret of ${app.name}?`,
            consequence: <Rotation of={app} />,
            keep: 'Keep the secret',
            confirm: 'Rotate secret',
            confirmVariant: 'primary',
          }}
        />
      )}
      {app.disabled_at ? (
        <Enable app={app} />
      ) : (
        <OperatorButton
          operation="setApp"
          params={{ appId: app.app_id }}
          body={{ disabled: true }}
          label="Disable"
          ask={{
            question: `Disable ${app.name}?`,
            consequence:
              app.open_tasks > 0
                ? `${WHILE_DISABLED} Deletions wait for it: ${count(app.open_tasks, 'open task')} now.`
                : WHILE_DISABLED,
            keep: 'Keep it enabled',
            confirm: 'Disable',
          }}
          outcome={`Disabled: ${app.name}. Its messages and its deletion tasks wait until it is enabled.`}
        />
      )}
    </div>
    <Disclosure summary="Remove the app" className="mt-4 text-sm">
      <Removal of={app.app_id} openTasks={app.open_tasks} />
    </Disclosure>
  </Part>
)

/** A third secret would not be kept, so the one before the present one ends early. */
const Rotation = ({ of: { previous_secret_until: until } }: { of: AppActionsProps['app'] }) => (
  <>
    The new secret is shown once. For a day messages are signed with it and with the present one.
    {until && (
      <>
        {' '}
        The older secret, which is valid until <LocalTime dateTime={until} />, ends at once: a receiver that has no
        newer one refuses messages.
      </>
    )}
  </>
)
