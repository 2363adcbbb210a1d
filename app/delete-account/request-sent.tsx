import { MailCheck } from 'lucide-react'
import { bold } from '@/components/ui/bold'
import { buttonStyle } from '@/components/ui/button-style'
import { Card } from '@/components/ui/card'
import { pageTexts } from '@/server/pages/language'
import { isMailAway } from '@/server/watch/health'

/** The answer to the form, which is the same for every address. */
export async function RequestSent({ language, typed }: { language: string; typed: string | undefined }) {
  const t = await pageTexts('DeletionPage')
  const common = await pageTexts('Common')
  return (
    <Card className="space-y-2 p-card sm:p-6">
      <span className="grid size-11 place-items-center rounded-full bg-accent-soft text-accent">
        <MailCheck className="size-5" aria-hidden />
      </span>
      {/* Without a script nothing else tells a screen reader what has come. */}
      {/* biome-ignore lint/a11y/noAutofocus: it is the answer to the form */}
      <h2 tabIndex={-1} autoFocus className="pt-3 font-semibold text-xl leading-7 tracking-[-0.02em] outline-none">
        {t('sentTitle')}
      </h2>
      {typed && <p className="text-ink-muted">{t.rich('typed', { email: () => bold(typed) })}</p>}
      <p className="text-ink-muted">{t('sentText')}</p>
      {(await isMailAway()) && <p className="text-ink-muted">{common('mailLate')}</p>}
      <p className="text-ink-muted text-sm">{t('sentHint')}</p>
      <p className="pt-3">
        <a
          href={`/delete-account?again=1&language=${language}#request`}
          className={buttonStyle({ variant: 'secondary', className: 'w-full sm:w-auto' })}
        >
          {t('again')}
        </a>
      </p>
    </Card>
  )
}
