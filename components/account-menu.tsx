'use client'

import { ChevronDown, LogOut, Settings2 } from 'lucide-react'
import Link from 'next/link'
import { DropdownMenu } from 'radix-ui'
import { signOutHere } from './sign-out'
import { useHydrated } from './ui/use-hydrated'

const item =
  'flex h-11 items-center gap-2.5 rounded-lg px-2.5 outline-none data-[highlighted]:bg-sunken sm:h-10 [&>svg]:size-4 [&>svg]:text-ink-muted'

export function AccountMenu({ name, email }: { name: string; email: string }) {
  const hydrated = useHydrated()
  return (
    // Not modal: the modal form locks scrolling by a style tag, which a strict policy refuses.
    <DropdownMenu.Root modal={false}>
      <DropdownMenu.Trigger
        disabled={!hydrated}
        className="flex h-11 min-w-0 items-center gap-2 rounded-full py-1 pr-2.5 pl-1.5 text-sm hover:bg-sunken data-[state=open]:bg-sunken"
      >
        <span
          className="grid size-8 shrink-0 place-items-center rounded-full bg-accent-soft font-semibold text-accent uppercase"
          aria-hidden
        >
          {Array.from(name.trim())[0] ?? '?'}
        </span>
        <span className="hidden max-w-40 truncate font-medium sm:block">{name}</span>
        <span className="sr-only">Account menu</span>
        <ChevronDown className="size-4 shrink-0 text-ink-muted" aria-hidden />
      </DropdownMenu.Trigger>
      <DropdownMenu.Content
        align="end"
        sideOffset={8}
        collisionPadding={12}
        className="fade-in zoom-in-95 z-10 w-68 origin-top-right animate-in rounded-xl border border-line bg-surface p-1.5 shadow-lift duration-100"
      >
        <DropdownMenu.Label className="wrap-anywhere px-2.5 py-2">
          <span className="block font-medium leading-5">{name}</span>
          <span className="block text-ink-muted text-sm leading-5">{email}</span>
        </DropdownMenu.Label>
        <DropdownMenu.Separator className="-mx-1.5 my-1.5 h-px bg-line" />
        <DropdownMenu.Item asChild className={item}>
          <Link href="/settings/email">
            <Settings2 aria-hidden /> Settings
          </Link>
        </DropdownMenu.Item>
        <DropdownMenu.Item className={item} onSelect={() => void signOutHere('/sign-in')}>
          <LogOut aria-hidden /> Sign out
        </DropdownMenu.Item>
      </DropdownMenu.Content>
    </DropdownMenu.Root>
  )
}
