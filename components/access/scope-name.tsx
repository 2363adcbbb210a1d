import { useTranslations } from 'use-intl/react'
import { SCOPE_TEXTS } from '@/contract/vocabulary'

/** The scope whose holder can delete the account. */
export const DELETING_SCOPE = 'account:manage'

const isNamed = (scope: string): scope is keyof typeof SCOPE_TEXTS => Object.hasOwn(SCOPE_TEXTS, scope)

/** What a token may do, in words. */
export function ScopeName({ scope }: { scope: string }) {
  const t = useTranslations('AccessTokens')
  return isNamed(scope) ? t(`scopes.${SCOPE_TEXTS[scope]}`) : scope
}

/** Explains what else the scope allows, and what it does not. */
export function ScopeHint({ scope }: { scope: keyof typeof SCOPE_TEXTS }) {
  const t = useTranslations('AccessTokens')
  return t(`scopes.${SCOPE_TEXTS[scope]}Hint`)
}
