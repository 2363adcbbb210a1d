import { Alert } from '../ui/alert'

const SENTENCES: Record<string, (provider: string) => string> = {
  declined: (provider) => `You cancelled at ${provider}.`,
  away: (provider) => `We could not reach ${provider}. Try again in a moment.`,
  other: (provider) => `You signed in to ${provider} as somebody else. Sign in there as the owner of this account.`,
  unasked: (provider) =>
    `We asked ${provider} to have you sign in anew, and it did not say that it did. Whoever runs it has to switch on “auth_time” for this service.`,
  weak: (provider) => `This needs a stronger sign-in at ${provider}, such as one with a second factor.`,
}

/** The person is back from the identity provider, and nothing came of it. */
export function Unconfirmed({ reason, provider }: { reason: unknown; provider: string | null }) {
  if (typeof reason !== 'string') return null
  const say = Object.hasOwn(SENTENCES, reason) ? SENTENCES[reason] : undefined
  return (
    <Alert tone="warning" role="alert" title="We could not confirm that it is you" className="mb-6">
      <p>
        {say?.(provider ?? 'the identity provider') ??
          'It took too long, or it was begun in another window. Begin again.'}
      </p>
      <p>Nothing was changed.</p>
    </Alert>
  )
}
