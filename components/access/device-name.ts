import { useTranslations } from 'use-intl/react'
import { deviceOf } from '@/contract/device'

/** “Firefox on Linux”, in the language of the page. */
export function useDeviceName(): (userAgent: string) => string {
  const t = useTranslations('Sessions')
  return (userAgent) => {
    const { browser = t('unknownBrowser'), system } = deviceOf(userAgent)
    return system ? t('device', { browser, system }) : browser
  }
}
