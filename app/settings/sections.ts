import { Archive, KeyRound, LockKeyhole, type LucideIcon, Mail, MonitorSmartphone, UserX } from 'lucide-react'

/** The settings navigation, in its order. A phone shows the short label where there is one. */
export const sections = [
  { href: '/settings/email', name: 'email', icon: Mail },
  { href: '/settings/password', name: 'password', icon: LockKeyhole },
  { href: '/settings/sessions', name: 'sessions', icon: MonitorSmartphone },
  { href: '/settings/access-tokens', name: 'accessTokens', short: 'accessTokensShort', icon: KeyRound },
  { href: '/settings/data', name: 'data', short: 'dataShort', icon: Archive },
  { href: '/settings/withdraw', name: 'deleteAccount', short: 'deleteAccountShort', icon: UserX },
] as const satisfies { href: string; name: string; short?: string; icon: LucideIcon }[]
