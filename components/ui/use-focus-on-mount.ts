import { createContext, useCallback, useContext, useEffect, useRef } from 'react'

/** Whether the person has been in the parts around. On a page of an adopter nothing can have lost the focus before that. */
export const PartsUse = createContext({ hasHadFocus: true })

/** Whether the control that had the focus may be gone. */
export function useIsFocusLost() {
  const use = useContext(PartsUse)
  return useCallback(() => use.hasHadFocus && document.activeElement === document.body, [use])
}

/** Focuses an element that replaces the pressed control, or (`if-lost`) one that may have held the focus. The element needs tabIndex={-1}. */
export function useFocusOnMount<E extends HTMLElement>(when: boolean | 'if-lost') {
  const ref = useRef<E>(null)
  const atMount = useRef(when)
  const isLost = useIsFocusLost()
  useEffect(() => {
    if (atMount.current === 'if-lost' ? isLost() : atMount.current) ref.current?.focus()
  }, [isLost])
  return ref
}
