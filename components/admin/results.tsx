import type { ReactNode } from 'react'
import type { Answer } from '@/contract/define'
import type { OPERATOR_OPERATIONS } from '@/contract/operator-operations'
import { isGoodPing } from '@/contract/ping'
import { count, resultOfPing } from '@/contract/words'
import { Alert } from '../ui/alert'
import { Button } from '../ui/button'
import { Copyable } from './copyable'

type Operations = typeof OPERATOR_OPERATIONS

const triedAgain = ({ retried }: { retried?: boolean | undefined }) =>
  retried === false
    ? 'Nothing has failed. What was never tried keeps its time.'
    : 'What failed is tried again within a minute.'
/** What the page itself does not show after the act. */
export const RESULTS: {
  [Name in keyof Operations]?: (answer: Answer<Operations[Name]>, of: string, hide: () => void) => ReactNode
} = {
  endAccountSessions: ({ sessions_ended: sessions, tokens_ended: tokens }) =>
    `Signed out everywhere: ${count(sessions, 'session')} and ${count(tokens, 'access token')} ended.`,
  pingApp: (answer, host) => (
    <Alert className="text-ink" tone={isGoodPing(answer) ? 'success' : 'danger'} title={resultOfPing(answer, host)} />
  ),
  resendDeadLetters: ({ resent }) => `${resent} will be sent again.`,
  retryTask: triedAgain,
  retryWithdrawal: triedAgain,
  rotateAppSecret: ({ signing_secret: secret }, _app, hide) => (
    <Alert
      className="text-ink"
      title={<b className="font-semibold">Copy the new signing secret now. It is shown only once.</b>}
    >
      <Copyable text={secret} label="the signing secret" />
      <Button variant="secondary" size="small" onClick={hide}>
        I have copied it
      </Button>
    </Alert>
  ),
}
