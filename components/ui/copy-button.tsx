'use client'

import { Check, Copy } from 'lucide-react'
import { type ComponentProps, useEffect, useState } from 'react'
import { useTranslations } from 'use-intl/react'
import { Button } from './button'

interface CopyButtonProps extends Pick<ComponentProps<typeof Button>, 'variant'> {
  text: string
  /** Names the copied text for screen readers: “Copy the curl example”. */
  label?: string
  /** In place of “Copy”. */
  children?: string
}

export function CopyButton({ text, label, variant = 'quiet', children }: CopyButtonProps) {
  const t = useTranslations('Common')
  const [copied, setCopied] = useState(false)

  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 2000)
    return () => clearTimeout(timer)
  }, [copied])

  return (
    <>
      <Button
        variant={variant}
        size="small"
        className={variant === 'quiet' ? 'text-ink-muted! hover:text-ink!' : undefined}
        onClick={async () => {
          await navigator.clipboard.writeText(text)
          setCopied(true)
        }}
      >
        {copied ? <Check className="size-4 text-success" aria-hidden /> : <Copy className="size-4" aria-hidden />}
        {copied ? t('copied') : (children ?? t('copy'))}
        {!copied && label && <span className="sr-only"> {label}</span>}
      </Button>
      {/* Beside the button, because browsers may leave out what a button contains. */}
      <span role="status" className="sr-only">
        {copied && t('copied')}
      </span>
    </>
  )
}
