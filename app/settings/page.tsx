import { redirect } from 'next/navigation'
import { type PageProps, withReturnTo } from '@/server/pages/session'

export default async function SettingsPage(props: PageProps) {
  redirect(await withReturnTo('/settings/email', props))
}
