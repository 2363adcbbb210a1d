import type { Step } from '@/contract/withdrawal'

interface StepTexts {
  title: string
  /** On the progress page. */
  description: string
  /** On the page that offers the withdrawal. */
  announcement: (retentionDays: number) => string
}

/** What the pages say about each deletion step, in the order of time. */
export const STEP_TEXTS: Record<Step, StepTexts> = {
  session_revocation: {
    title: 'Access',
    description: 'Every session and access token has ended, and nobody can sign in any more.',
    announcement: () =>
      'You are signed out everywhere, and nobody can sign in any more. Access tokens stop working. A pending email change is cancelled.',
  },
  user_profile: {
    title: 'Profile and sign-in data',
    description: 'Name, profile, preferences, password, and the list of sessions and access tokens.',
    announcement: () => 'Your name, your profile, your preferences and your password are deleted.',
  },
  third_party_integrations: {
    title: 'Connected applications',
    description:
      'Each is asked to remove you, and asked again until it confirms. What you shared with it is deleted here once it has confirmed.',
    announcement: (retentionDays) =>
      `Every connected application is asked to remove you, and asked again until it confirms. What you shared with it is deleted here once it has confirmed, and after ${retentionDays} days in any case.`,
  },
  data_archives: {
    title: 'Archive copies, logs and caches',
    description: 'The encrypted archive copies and their key, logs, transactions, analytics and caches.',
    announcement: () =>
      'The encrypted archive copies of your data are deleted together with the key that opens them; so are logs, transactions, analytics and cached data, except for what you choose to keep. Backups of the whole database expire by their own schedule.',
  },
}

const IN_ORDER = Object.keys(STEP_TEXTS)

/** A step that this page does not know yet, as in a rolling upgrade, has its name for a title. */
export const textsOf = (step: string): Pick<StepTexts, 'title' | 'description'> =>
  Object.hasOwn(STEP_TEXTS, step) ? STEP_TEXTS[step as Step] : { title: step.replaceAll('_', ' '), description: '' }

/** In the order of `STEP_TEXTS`, unknown steps last. */
export const inOrder = <T extends { step: string }>(steps: readonly T[]): T[] =>
  [...steps].sort((a, b) => rank(a.step) - rank(b.step))

const rank = (step: string) => (IN_ORDER.includes(step) ? IN_ORDER.indexOf(step) : IN_ORDER.length)
