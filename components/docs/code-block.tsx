import { CopyButton } from '../ui/copy-button'

interface CodeBlockProps {
  title: string
  /** Names the copied text for screen readers. */
  label: string
  code: string
}

export function CodeBlock({ title, label, code }: CodeBlockProps) {
  return (
    <div className="overflow-hidden rounded-xl border border-line bg-surface">
      <div className="flex items-center justify-between gap-3 border-line border-b py-0.5 ps-4 pe-1">
        <p className="font-medium text-ink-muted text-sm">{title}</p>
        <CopyButton text={code} label={label} />
      </div>
      <pre dir="ltr" className="wrap-anywhere whitespace-pre-wrap px-4 py-3.5 font-mono text-[0.8125rem] leading-6">
        {code}
      </pre>
    </div>
  )
}
