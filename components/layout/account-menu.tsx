'use client'

import { useMutation } from '@tanstack/react-query'
import { ChevronDown, Gauge, LogOut, Settings2 } from 'lucide-react'
import Link from 'next/link'
import { type MouseEvent, useId, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { signOutHere } from '../session/sign-out'
import { closeWhenLeft } from '../ui/close-when-left'
import { useHydrated } from '../ui/use-hydrated'

const item =
  'flex h-11 w-full items-center gap-2.5 rounded-lg px-2.5 hover:bg-sunken focus-visible:-outline-offset-2 sm:h-10 [&>svg]:size-4 [&>svg]:text-ink-muted'

const closeMenu = (event: MouseEvent<HTMLElement>) =>
  event.currentTarget.closest<HTMLElement>('[popover]')?.hidePopover()

interface AccountMenuProps {
  name: string
  email: string
  isOperator: boolean
}

/** The browser's own popover. Escape or a press beside it closes it, and the focus returns to the button. */
export function AccountMenu({ name, email, isOperator }: AccountMenuProps) {
  const t = useTranslations('Common')
  const hydrated = useHydrated()
  const id = useId()
  const [isOpen, setOpen] = useState(false)
  const leave = useMutation({ mutationFn: () => signOutHere('/sign-in') })
  return (
    <>
      <button
        type="button"
        disabled={!hydrated}
        popoverTarget={id}
        className="flex min-h-11 shrink-0 items-center gap-2 rounded-full py-1 ps-1.5 pe-2.5 text-sm hover:bg-sunken aria-expanded:bg-sunken"
        aria-expanded={isOpen}
      >
        <span
          className="grid size-[min(2rem,10vw)] shrink-0 place-items-center rounded-full bg-accent-soft font-semibold text-accent uppercase"
          aria-hidden
        >
          {Array.from(name.trim())[0] ?? '?'}
        </span>
        <span className="hidden max-w-40 truncate font-medium sm:block">{name}</span>
        <span className="sr-only">{t('accountMenu')}</span>
        <ChevronDown className="size-[min(1rem,5vw)] shrink-0 text-ink-muted" aria-hidden />
      </button>
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it only hears that the focus leaves what is in it. */}
      <div
        id={id}
        popover="auto"
        onBlur={closeWhenLeft}
        onBeforeToggle={(event) => {
          if (event.newState !== 'open') return
          leave.reset()
          setOpen(true)
        }}
        // Not in onBeforeToggle, because the focused item must still exist when the browser moves the focus back.
        onToggle={(event) => event.newState === 'closed' && setOpen(false)}
        className="fade-in zoom-in-95 absolute inset-auto top-15 [position-anchor:auto] end-4 m-0 w-68 origin-top-right rounded-xl border border-line bg-surface p-1.5 text-ink shadow-lift duration-100 open:animate-in supports-[top:anchor(bottom)]:top-[calc(anchor(bottom)+0.5rem)] supports-[top:anchor(bottom)]:end-[anchor(end)] rtl:origin-top-left"
      >
        {isOpen && (
          <>
            <p className="wrap-anywhere px-2.5 py-2">
              <span className="block font-medium leading-5">{name}</span>
              <span className="block text-ink-muted text-sm leading-5">{email}</span>
            </p>
            <div className="-mx-1.5 my-1.5 h-px bg-line" />
            <Link href="/settings/email" className={item} onClick={closeMenu}>
              <Settings2 aria-hidden /> {t('settings')}
            </Link>
            {isOperator && (
              <Link href="/admin" lang="en" hrefLang="en" className={item} onClick={closeMenu}>
                <Gauge aria-hidden /> Operations
              </Link>
            )}
            <button
              type="button"
              className={item}
              aria-busy={leave.isPending || undefined}
              onClick={() => !leave.isPending && leave.mutate()}
            >
              <LogOut aria-hidden /> {t('signOut')}
            </button>
            {leave.isError && (
              <p role="alert" className="px-2.5 py-2 text-danger text-sm leading-5">
                {t('stillSignedIn')}
              </p>
            )}
          </>
        )}
      </div>
    </>
  )
}
