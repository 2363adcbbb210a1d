import type { ReactNode } from 'react'
import { Facts, Letter, type LetterProps, marks, type Origin, originFacts, Paragraph, TextLink } from './layout'
import { ORIGIN, preview } from './preview'
import type { Slot } from './slot'

interface Props extends LetterProps<'noPasswordToReset'>, Origin {
  /** The name by which people know the identity provider. */
  provider: Slot
  signInUrl: Slot
  /** Whether there is an identity provider to sign in with. */
  hasProvider: boolean
}

export default function NoPasswordToReset({ provider, signInUrl, hasProvider, ...letter }: Props) {
  const { look, t } = letter
  const link = (url: ReactNode) => (
    <TextLink look={look} href={signInUrl}>
      {url}
    </TextLink>
  )
  return (
    <Letter {...letter}>
      <Paragraph>{t('intro')}</Paragraph>
      <Paragraph>
        {hasProvider
          ? t.rich('provider', { ...marks(look), provider, signInUrl, link })
          : t.rich('elsewhere', marks(look))}
      </Paragraph>
      <Facts facts={originFacts(look, letter, 'requestedAt')} />
    </Letter>
  )
}

NoPasswordToReset.PreviewProps = preview('noPasswordToReset', NoPasswordToReset, {
  provider: 'Example ID',
  signInUrl: 'https://accounts.example.com/sign-in',
  ...ORIGIN,
  hasProvider: true,
})
