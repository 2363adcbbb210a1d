import type { Metadata } from 'next'
import { notFound } from 'next/navigation'

export const metadata: Metadata = { title: 'No such page, API documentation' }

/** A path of several parts that does not exist stays in the reference. */
export default function UnknownPage() {
  notFound()
}
