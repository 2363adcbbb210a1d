import { titled } from '@/app/page-title'
import { PageHeading } from '@/components/layout/page-heading'
import { Texts } from '@/components/layout/texts'
import { ChangePasswordForm } from '@/components/password/change-password-form'
import { Alert } from '@/components/ui/alert'
import { getEmailStatus } from '@/domain/email/get-email-status'
import { listAccessTokens } from '@/domain/sessions/access-tokens'
import { waysToConfirm } from '@/domain/sessions/fresh-sign-in'
import { listSessions } from '@/domain/sessions/sessions'
import { pageTexts, textsOf } from '@/server/pages/language'
import { newPasswordRules } from '@/server/pages/new-password-rules'
import { openPage, type PageProps, toSignIn } from '@/server/pages/session'

export const generateMetadata = titled('Passwords', 'title')

export default async function PasswordPage(props: PageProps) {
  const ctx = await openPage()
  if (!ctx) return toSignIn('/settings/password', props)
  const { hasPassword, provider } = await waysToConfirm(ctx, 'change')
  if (!hasPassword) return <NoPassword provider={provider} />
  const t = await pageTexts('Passwords')
  const [{ sessions }, { access_tokens: tokens }, { pending_change: change }] = await Promise.all([
    listSessions(ctx),
    listAccessTokens(ctx),
    getEmailStatus(ctx),
  ])
  const { user, userId } = ctx.actor
  const browsers = sessions.filter(({ current }) => !current).length
  const ends = [
    browsers > 0 && t('endsBrowsers', { count: browsers }),
    tokens.length > 0 && t('endsTokens', { count: tokens.length }),
    change.has_pending && t('endsChange'),
  ].filter((part) => typeof part === 'string')
  return (
    <>
      <PageHeading title={t('title')} description={t('description')} />
      <Texts texts={await textsOf(['NewPassword', 'Passwords'])}>
        <ChangePasswordForm
          userId={userId}
          email={user.email}
          ends={ends}
          canReset={ctx.hasPasswordSignIn}
          rules={newPasswordRules(user)}
        />
      </Texts>
    </>
  )
}

async function NoPassword({ provider }: { provider: string | null }) {
  const t = await pageTexts('Passwords')
  return (
    <>
      <PageHeading title={t('title')} description={t('none.description')} />
      <Alert
        title={provider ? t('none.providerTitle', { provider }) : t('none.title')}
        text={provider ? t('none.providerText', { provider }) : t('none.text')}
      />
    </>
  )
}
