import type { ReactNode } from 'react'
import { Facts, Layout, type Look, marks, Paragraph, TextLink } from './layout'
import type { LetterTexts } from './letter-texts'
import type { Slot } from './slot'

interface Props {
  look: Look
  t: LetterTexts<'noPasswordToReset'>
  userName: Slot
  /** The name by which people know the identity provider. */
  provider: Slot
  signInUrl: Slot
  ipAddress: Slot
  /** Whether there is an identity provider to sign in with. */
  hasProvider: boolean
}

export default function NoPasswordToReset({ look, t, userName, provider, signInUrl, ipAddress, hasProvider }: Props) {
  const link = (url: ReactNode) => (
    <TextLink look={look} href={signInUrl}>
      {url}
    </TextLink>
  )
  return (
    <Layout look={look} preview={t('preview')} title={t('title')} reason={t('reason')} footnote={t('footnote')}>
      <Paragraph>{look.t('greeting', { userName })}</Paragraph>
      <Paragraph>{t('intro')}</Paragraph>
      <Paragraph>
        {hasProvider
          ? t.rich('provider', { ...marks(look), provider, signInUrl, link })
          : t.rich('elsewhere', marks(look))}
      </Paragraph>
      <Facts facts={[[look.t('requestedFrom'), ipAddress]]} />
    </Layout>
  )
}
