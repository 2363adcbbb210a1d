import { Facts, Greeting, Layout, type Look, marks, type Origin, originFacts, Paragraph } from './layout'
import type { LetterTexts } from './letter-texts'
import { ORIGIN, preview } from './preview'
import type { Slot } from './slot'

interface Props extends Origin {
  look: Look
  t: LetterTexts<'emailReverted'>
  to: 'old' | 'new'
  /** `stopped`: nothing had been changed. */
  outcome: 'stopped' | 'restored'
  hasPassword: boolean
  userName: Slot
  email: Slot
  /** Named to the owner alone. */
  newEmail: Slot
  heldUntil: Slot
  /** Whether the owner cannot delete the account before that time. */
  isHeld: boolean
}

export default function EmailReverted({ to, ...letter }: Props) {
  return to === 'old' ? <ToOldAddress {...letter} /> : <ToNewAddress {...letter} />
}

type Letter = Omit<Props, 'to'>

const OLD_ADDRESS = {
  stopped: { preview: 'previewStopped', title: 'titleStopped', intro: 'introStopped' },
  restored: { preview: 'previewRestored', title: 'titleRestored', intro: 'introRestored' },
} as const

function ToOldAddress(letter: Letter) {
  const { look, t, outcome, hasPassword, userName, email, newEmail, heldUntil } = letter
  const { preview, title, intro } = OLD_ADDRESS[outcome]
  return (
    <Layout
      look={look}
      preview={t(preview)}
      title={t(title)}
      reason={t('reason')}
      footnote={t.rich('footnoteOld', marks(look))}
    >
      <Greeting look={look} userName={userName} />
      <Paragraph>{t.rich(intro, marks(look))}</Paragraph>
      <Facts
        facts={[
          [look.t('address'), email],
          [t(outcome === 'stopped' ? 'stoppedAddress' : 'removedAddress'), newEmail],
          ...originFacts(look, letter),
        ]}
      />
      <Paragraph>{t(hasPassword ? 'signedOut' : 'signedOutWithoutPassword')}</Paragraph>
      {letter.isHeld && <Paragraph>{t.rich('held', { ...marks(look), heldUntil })}</Paragraph>}
    </Layout>
  )
}

/** The reader may not be the owner of the account, and does not learn where the owner is. */
function ToNewAddress({ look, t, outcome, email, at }: Letter) {
  const isStopped = outcome === 'stopped'
  return (
    <Layout
      look={look}
      preview={t('previewNew')}
      title={t(isStopped ? 'titleNewStopped' : 'titleNew')}
      reason={t('reason')}
      footnote={t.rich('footnoteNew', marks(look))}
    >
      <Paragraph>{look.t('greetingNobody')}</Paragraph>
      <Paragraph>{t(isStopped ? 'introNewStopped' : 'introNewChanged')}</Paragraph>
      <Facts
        facts={[
          [look.t('address'), email],
          [look.t('date'), at],
        ]}
      />
    </Layout>
  )
}

EmailReverted.PreviewProps = preview('emailReverted', EmailReverted, {
  to: 'old',
  outcome: 'restored',
  hasPassword: true,
  email: 'ada@example.com',
  newEmail: 'ada@example.org',
  heldUntil: '27 November 2026 at 09:00 UTC',
  isHeld: true,
  ...ORIGIN,
})
