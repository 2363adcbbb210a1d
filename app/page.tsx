import { ArrowRight, BellRing, KeyRound, MailCheck, Trash2 } from 'lucide-react'
import Link from 'next/link'
import { redirect } from 'next/navigation'
import { Main } from '@/components/layout/main'
import { Page } from '@/components/layout/page'
import { buttonStyle } from '@/components/ui/button-style'
import { pageTexts } from '@/server/pages/language'
import { sessionIfReadable } from '@/server/pages/session'
import { NewHere } from './new-here'
import { sections } from './settings/sections'
import { Specimen } from './specimen'

const promises = [
  { icon: KeyRound, name: 'start' },
  { icon: MailCheck, name: 'unchanged' },
  { icon: BellRing, name: 'notified' },
  { icon: Trash2, name: 'deleted' },
] as const

const others = sections
  .filter(({ name }) => name !== 'email')
  // Its public page leads to the settings too.
  .map((section) => (section.name === 'deleteAccount' ? { ...section, href: '/delete-account' } : section))

export default async function LandingPage() {
  const t = await pageTexts('Landing')
  const common = await pageTexts('Common')
  if (await sessionIfReadable()) redirect('/settings/email')
  return (
    <Page account={null} link={{ href: '/sign-in', label: common('signIn') }}>
      <Main className="mx-auto w-full max-w-5xl flex-1 px-edge sm:px-6">
        {/* Large text leaves no room for both beside each other. */}
        <div className="@container">
          <div className="grid grid-cols-1 items-center gap-12 py-16 sm:py-24 @4xl:grid-cols-[minmax(0,1fr)_24rem] lg:py-28">
            <div>
              <h1 className="font-semibold text-4xl leading-[1.08] tracking-[-0.035em] sm:text-6xl lg:text-[3.5rem]">
                {t('title')}
              </h1>
              <p className="mt-6 max-w-xl text-ink-muted text-lg leading-7">{t('lead')}</p>
              <Link href="/sign-in" className={buttonStyle({ className: 'mt-9 w-full sm:min-h-11 sm:w-auto' })}>
                {common('signIn')} <ArrowRight className="size-4 rtl:rotate-180" aria-hidden />
              </Link>
              <NewHere className="mt-4" />
            </div>
            <Specimen />
          </div>
        </div>
        <ul className="grid gap-x-10 gap-y-8 border-line border-t py-12 sm:grid-cols-2 lg:grid-cols-4 sm:py-14">
          {promises.map(({ icon: Icon, name }) => (
            <li key={name}>
              <Icon className="size-5 text-accent" aria-hidden />
              <h2 className="mt-3 font-semibold tracking-[-0.01em]">{t(`${name}Title`)}</h2>
              <p className="mt-1 text-ink-muted">{t(`${name}Text`)}</p>
            </li>
          ))}
        </ul>
        <div className="flex flex-wrap items-center gap-x-6 border-line border-t py-4 text-ink-muted">
          <h2>{t('also')}</h2>
          <ul className="flex flex-wrap gap-x-6">
            {others.map(({ href, name, icon: Icon }) => (
              <li key={href}>
                <a href={href} className="inline-flex min-h-11 items-center gap-2 hover:text-ink hover:underline">
                  <Icon className="size-4 shrink-0" aria-hidden /> {common(`sections.${name}`)}
                </a>
              </li>
            ))}
          </ul>
        </div>
      </Main>
    </Page>
  )
}
