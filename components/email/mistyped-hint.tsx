import { useTranslations } from 'use-intl/react'
import { Button } from '../ui/button'
import { suggestAddress } from './mistyped-domain'

/** Says which address was probably meant, if the domain of this one is mistyped. */
export default function MistypedHint({ address, onUse }: { address: string; onUse: (meant: string) => void }) {
  const t = useTranslations('EmailSettings')
  const meant = suggestAddress(address)
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
