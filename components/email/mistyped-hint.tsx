import { useTranslations } from 'use-intl/react'
import { Button } from '../ui/button'
import { probablyMeant } from './mistyped-domain'

/** Says which address was probably meant, if this one has a domain that people write by a slip. */
export default function MistypedHint({ address, onUse }: { address: string; onUse: (meant: string) => void }) {
  const t = useTranslations('EmailSettings')
  const meant = probablyMeant(address)
  if (!meant) return null
  return (
    <p className="flex flex-wrap items-center gap-x-4 gap-y-2">
      <span className="wrap-anywhere">{t('typoHint', { email: meant })}</span>
      <Button type="button" variant="secondary" onClick={() => onUse(meant)}>
        {t('typoUse')}
      </Button>
    </p>
  )
}
