import { useEffect, useRef } from 'react'

/** For what takes the place of the control that was pressed; the element needs tabIndex={-1}. */
export function useFocusOnMount<E extends HTMLElement>(when: boolean) {
  const ref = useRef<E>(null)
  const atMount = useRef(when)
  useEffect(() => {
    if (atMount.current) ref.current?.focus()
  }, [])
  return ref
}
