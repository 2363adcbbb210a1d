import type { FieldErrors, FieldValues } from 'react-hook-form'

/**
 * Focuses the first wrong field of the page. React Hook Form alone takes the field that was registered first, and a part of a form
 * registers its fields after the form's own. Needs `shouldFocusError: false`.
 */
export function focusFirstWrong<Values extends FieldValues>(errors: FieldErrors<Values>): void {
  const wrong = Object.values<{ ref?: unknown } | undefined>(errors).flatMap((error) =>
    error?.ref instanceof HTMLElement ? [error.ref] : [],
  )
  const isBefore = (one: HTMLElement, other: HTMLElement) =>
    one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1
  wrong.sort(isBefore)[0]?.focus()
}
