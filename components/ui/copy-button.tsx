'use client'

import { Check, Copy } from 'lucide-react'
import { type ComponentProps, useEffect, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { Button } from './button'

/** A page without TLS has no clipboard; there the browser copies what is selected. */
async function copy(text: string, button: HTMLElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    const field = document.createElement('textarea')
    field.value = text
    // Beside the button, because a dialog lets nothing outside be selected.
    button.after(field)
    field.select()
    document.execCommand('copy')
    field.remove()
    button.focus()
  }
}

interface CopyButtonProps extends Pick<ComponentProps<typeof Button>, 'variant'> {
  text: string
  /** Names the copied text for screen readers: “Copy the curl example”. */
  label?: string
  /** In place of “Copy”. */
  children?: string
}

export function CopyButton({ text, label, variant = 'quiet', children }: CopyButtonProps) {
  const t = useTranslations('Common')
  const [isCopied, setCopied] = useState(false)

  useEffect(() => {
    if (!isCopied) return
    const timer = setTimeout(() => setCopied(false), 2000)
    return () => clearTimeout(timer)
  }, [isCopied])

  return (
    <>
      <Button
        variant={variant}
        size="small"
        className={variant === 'quiet' ? 'text-ink-muted! hover:text-ink!' : undefined}
        onClick={async ({ currentTarget }) => {
          await copy(text, currentTarget)
          setCopied(true)
        }}
      >
        {isCopied ? <Check className="size-4 text-success" aria-hidden /> : <Copy className="size-4" aria-hidden />}
        {isCopied ? t('copied') : (children ?? t('copy'))}
        {!isCopied && label && <span className="sr-only"> {label}</span>}
      </Button>
      {/* Beside the button, because browsers may leave out what a button contains. */}
      <span role="status" className="sr-only">
        {isCopied && t('copied')}
      </span>
    </>
  )
}
