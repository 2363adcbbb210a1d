'use client'

import { Check, Copy } from 'lucide-react'
import { useEffect, useState } from 'react'
import { Button } from './button'

interface CopyButtonProps {
  text: string
  /** Names the copied text for screen readers: “Copy the curl example”. */
  label: string
}

export function CopyButton({ text, label }: CopyButtonProps) {
  const [copied, setCopied] = useState(false)

  useEffect(() => {
    if (!copied) return
    const timer = setTimeout(() => setCopied(false), 2000)
    return () => clearTimeout(timer)
  }, [copied])

  return (
    <Button
      variant="quiet"
      size="small"
      className="text-ink-muted hover:text-ink"
      onClick={async () => {
        await navigator.clipboard.writeText(text)
        setCopied(true)
      }}
    >
      {copied ? <Check className="size-4 text-success" aria-hidden /> : <Copy className="size-4" aria-hidden />}
      <span aria-live="polite">
        {copied ? 'Copied' : 'Copy'}
        {!copied && <span className="sr-only"> {label}</span>}
      </span>
    </Button>
  )
}
