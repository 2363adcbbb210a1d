import { useTranslations } from 'use-intl/react'
import { useChangesLeft } from '../api/changes-left'

/** Says before the last change that it is the last: whoever corrects an address does not expect that it counts as a change. */
export function ChangesLeft() {
  const t = useTranslations('EmailSettings')
  const left = useChangesLeft()
  return left !== undefined && left <= 1 && <p className="text-ink-muted text-sm">{t('changesLeft', { left })}</p>
}
