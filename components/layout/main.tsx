import type { ReactNode } from 'react'
import { cn } from '../ui/class-names'

/** The target of the skip link. */
export const Main = ({ className, children }: { className?: string; children: ReactNode }) => (
  <main id="content" tabIndex={-1} className={cn('outline-none', className)}>
    {children}
  </main>
)

export const centeredColumn = 'mx-auto flex w-full max-w-md flex-1 flex-col justify-center px-edge py-12'
