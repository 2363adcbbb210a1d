import { useTranslations } from 'use-intl/react'
import type { GRANTABLE_SCOPES } from '@/contract/define'

const NAMES = { 'email:manage': 'email', 'account:manage': 'account' } as const satisfies Record<
  (typeof GRANTABLE_SCOPES)[number],
  string
>

/** The scope whose holder can delete the account. */
export const DELETING_SCOPE = 'account:manage'

const isNamed = (scope: string): scope is keyof typeof NAMES => Object.hasOwn(NAMES, scope)

/** What a token may do, in words; in red where it may delete the account. */
export function ScopeName({ scope }: { scope: string }) {
  const t = useTranslations('AccessTokens')
  const text = isNamed(scope) ? t(`scopes.${NAMES[scope]}`) : scope
  return scope === DELETING_SCOPE ? <span className="text-danger">{text}</span> : text
}

/** Explains what else the scope allows, and what it does not. */
export function ScopeHint({ scope }: { scope: keyof typeof NAMES }) {
  const t = useTranslations('AccessTokens')
  return t(`scopes.${NAMES[scope]}Hint`)
}
