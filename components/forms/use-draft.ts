'use client'

import { useEffect, useState } from 'react'
import type { FieldValues, Path, UseFormReturn } from 'react-hook-form'
import type { Purpose } from '@/contract/access'
import { keepDraft, PAGE_LEAVES, takeDraft } from './draft'

/** Keeps what was typed over a new sign-in, here or at the identity provider, and over another language. True once something was filled in. */
export function useDraft<Values extends FieldValues, Context, Output>(
  purpose: Purpose,
  userId: string,
  form: UseFormReturn<Values, Context, Output>,
): boolean {
  const [isFilled, setFilled] = useState(false)
  useEffect(() => {
    const draft = Object.entries(takeDraft(purpose, userId))
    for (const [name, value] of draft) form.setValue(name as Path<Values>, value as never)
    if (draft.length > 0) setFilled(true)
    const keep = () => keepDraft(purpose, userId, form.getValues())
    window.addEventListener(PAGE_LEAVES, keep)
    return () => window.removeEventListener(PAGE_LEAVES, keep)
  }, [purpose, userId, form])
  return isFilled
}
