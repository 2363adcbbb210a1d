import { useEffect } from 'react'

const QUESTION = 'The new signing secret is shown only once. Leave without copying it?'

/** Asks before a page is left that shows a secret for the only time. */
export function useKeptSecret(isShown: boolean): void {
  useEffect(() => {
    if (!isShown) return
    const hold = (event: BeforeUnloadEvent) => event.preventDefault()
    const ask = (event: MouseEvent) => {
      const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href]') : null
      if (!link || link.target || window.confirm(QUESTION)) return
      event.preventDefault()
      event.stopPropagation()
    }
    window.addEventListener('beforeunload', hold)
    // Before the router's own listener.
    window.addEventListener('click', ask, { capture: true })
    return () => {
      window.removeEventListener('beforeunload', hold)
      window.removeEventListener('click', ask, { capture: true })
    }
  }, [isShown])
}
