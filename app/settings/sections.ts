import { Mail } from 'lucide-react'

/** The settings navigation, in its order. */
export const sections = [{ href: '/settings/email', label: 'Email', icon: Mail }] as const
