import type { ReactNode } from 'react'
import { EnglishLayout } from '@/app/english-layout'

/** Operators read the names of the deletion steps that people read. */
export default function AdminLayout({ children }: { children: ReactNode }) {
  return <EnglishLayout areas={['Deletion']}>{children}</EnglishLayout>
}
