import { useEffect, useRef } from 'react'

/** Focuses an element that replaces the pressed control, or (`if-lost`) one that may have held the focus. The element needs tabIndex={-1}. */
export function useFocusOnMount<E extends HTMLElement>(when: boolean | 'if-lost') {
  const ref = useRef<E>(null)
  const atMount = useRef(when)
  useEffect(() => {
    const isLost = document.activeElement === document.body
    if (atMount.current === 'if-lost' ? isLost : atMount.current) ref.current?.focus()
  }, [])
  return ref
}
