import { KeyRound, Mail, MonitorSmartphone, UserX } from 'lucide-react'

/** The settings navigation, in its order. */
export const sections = [
  { href: '/settings/email', label: 'Email', icon: Mail },
  { href: '/settings/sessions', label: 'Sessions', icon: MonitorSmartphone },
  { href: '/settings/access-tokens', label: 'Access tokens', icon: KeyRound },
  { href: '/settings/withdraw', label: 'Withdraw', icon: UserX },
] as const
