import { useEffect, useRef } from 'react'

/** For what takes the place of the control that was pressed, or that may have held the focus; the element needs tabIndex={-1}. */
export function useFocusOnMount<E extends HTMLElement>(when: boolean | 'if-lost') {
  const ref = useRef<E>(null)
  const atMount = useRef(when)
  useEffect(() => {
    const isLost = document.activeElement === document.body
    if (atMount.current === 'if-lost' ? isLost : atMount.current) ref.current?.focus()
  }, [])
  return ref
}
