import { Facts, Letter, type LetterProps, LinkPanel, marks, type Origin, originFacts, Paragraph } from './layout'
import { preview } from './preview'
import type { Slot } from './slot'

interface Props extends LetterProps<'accessTokenCreated'>, Origin {
  tokenName: Slot
  /** As the settings name them. */
  permissions: Slot
  worksUntil: Slot
  tokensUrl: Slot
}

export default function AccessTokenCreated(props: Props) {
  const { tokenName, permissions, worksUntil, at, device, ipAddress, tokensUrl, ...letter } = props
  const { look, t } = letter
  return (
    <Letter {...letter}>
      <Paragraph>{t('intro')}</Paragraph>
      <Facts
        facts={[
          [t('name'), tokenName],
          [t('permissions'), permissions],
          [t('worksUntil'), worksUntil],
          ...originFacts(look, { at, device, ipAddress }),
        ]}
      />
      <Paragraph>{t.rich('notYou', marks(look))}</Paragraph>
      <LinkPanel look={look} href={tokensUrl} label={t('button')} />
    </Letter>
  )
}

AccessTokenCreated.PreviewProps = preview('accessTokenCreated', AccessTokenCreated, {
  tokenName: 'Nightly export',
  permissions: 'Read and change your email address',
  worksUntil: '20 December 2026 at 09:00 UTC',
  at: '20 November 2026 at 09:00 UTC',
  device: 'Firefox on Linux',
  ipAddress: '203.0.113.7',
  tokensUrl: 'https://accounts.example.com/settings/access-tokens',
})
