import { ArrowRight, BellRing, KeyRound, MailCheck, Trash2 } from 'lucide-react'
import Link from 'next/link'
import { Main } from '@/components/main'
import { Page } from '@/components/page'
import { buttonStyle } from '@/components/ui/button-style'
import { accountOf, currentSession } from '@/server/pages/session'
import { Specimen } from './specimen'

const promises = [
  {
    icon: KeyRound,
    title: 'Only you can start it',
    text: 'A change needs your password, even in a browser that is already signed in.',
  },
  {
    icon: MailCheck,
    title: 'Nothing moves early',
    text: 'Your current address stays until a code or link from the new one confirms it.',
  },
  {
    icon: BellRing,
    title: 'The old address is told',
    text: 'At the request and after the change, so that nothing happens behind your back.',
  },
  {
    icon: Trash2,
    title: 'Deleted means deleted',
    text: 'Step by step, archive copies and connected applications included, with a page that shows how far it is.',
  },
]

export default async function LandingPage() {
  const session = await currentSession()
  const account = session && accountOf(session)
  return (
    <Page account={account} link={{ href: '/sign-in', label: 'Sign in' }}>
      <Main className="mx-auto w-full max-w-5xl flex-1 px-4 sm:px-6">
        <div className="grid items-center gap-12 py-16 sm:py-24 lg:grid-cols-[minmax(0,1fr)_24rem] lg:py-28">
          <div>
            <h1 className="font-semibold text-4xl leading-[1.08] tracking-[-0.035em] sm:text-6xl lg:text-[3.5rem]">
              Your account, in your hands.
            </h1>
            <p className="mt-6 max-w-xl text-ink-muted text-lg leading-7">
              Move your account to a new email address, and be sure that it is you who moves it. Or delete it for good,
              and watch every step to the end.
            </p>
            <div className="mt-9 flex flex-col gap-3 sm:flex-row">
              <Link href={account ? '/settings/email' : '/sign-in'} className={buttonStyle({ className: 'sm:h-11' })}>
                {account ? 'Open settings' : 'Sign in'} <ArrowRight className="size-4" aria-hidden />
              </Link>
              <Link href="/docs/api" className={buttonStyle({ variant: 'secondary', className: 'sm:h-11' })}>
                API documentation
              </Link>
            </div>
          </div>
          <Specimen />
        </div>
        <ul className="grid gap-x-10 gap-y-8 border-line border-t py-12 sm:grid-cols-2 lg:grid-cols-4 sm:py-14">
          {promises.map(({ icon: Icon, title, text }) => (
            <li key={title}>
              <Icon className="size-5 text-accent" aria-hidden />
              <h2 className="mt-3 font-semibold tracking-[-0.01em]">{title}</h2>
              <p className="mt-1 text-ink-muted">{text}</p>
            </li>
          ))}
        </ul>
      </Main>
    </Page>
  )
}
