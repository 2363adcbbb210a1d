'use client'

import { type ComponentProps, useState } from 'react'
import { Disclosure } from '../ui/disclosure'
import { useIsInUse } from './outcomes'

/** Folded where it is long when the page loads; a refresh folds nothing, because somebody may be at work in it. */
export function Fold({ isLong, ...rest }: Omit<ComponentProps<typeof Disclosure>, 'open'> & { isLong: boolean }) {
  const isInUse = useIsInUse()
  const [isOpen] = useState(isInUse || !isLong)
  return <Disclosure open={isOpen} {...rest} />
}
