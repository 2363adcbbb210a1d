import type { FocusEvent } from 'react'

/** Closes a popover once the keyboard has left it, because it lies over what has the focus then. */
export function closeWhenLeft({ currentTarget, relatedTarget }: FocusEvent<HTMLElement>) {
  if (relatedTarget && !currentTarget.contains(relatedTarget)) currentTarget.hidePopover()
}
