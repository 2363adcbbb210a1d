import { cn } from '@/components/ui/class-names'
import { linkTo } from '@/components/ui/link-to'
import { pageTexts } from '@/server/pages/language'
import { getEnv } from '@/server/settings/env'

/** Says where an account comes from: accounts are made in the product, never here. */
export async function NewHere({ className }: { className: string }) {
  const { name, url } = getEnv().brand
  const t = await pageTexts('SignIn')
  if (!url) return null
  return (
    <p className={cn('text-ink-muted text-sm', className)}>{t.rich('newHere', { product: name, link: linkTo(url) })}</p>
  )
}
