import { Facts, type FactsProps, Letter, type LetterProps, LinkPanel, marks, Paragraph } from './layout'
import type { Slot } from './slot'

interface ActLetterProps extends LetterProps<'accessTokenCreated' | 'dataExported'>, FactsProps {
  hasPassword: boolean
  /** Where the person can do something about it. */
  url: Slot
}

/** A letter about what somebody who is signed in did. */
export function ActLetter({ facts, hasPassword, url, ...letter }: ActLetterProps) {
  const { look, t } = letter
  return (
    <Letter {...letter}>
      <Paragraph>{t('intro')}</Paragraph>
      <Facts facts={facts} />
      <Paragraph>{t.rich(hasPassword ? 'notYou' : 'notYouWithoutPassword', marks(look))}</Paragraph>
      <LinkPanel look={look} href={url} label={t('button')} />
    </Letter>
  )
}
