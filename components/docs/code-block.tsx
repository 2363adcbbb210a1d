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
        <Colored code={code} />
      </pre>
    </div>
  )
}

/** A text or a comment, of JSON, the shell, TypeScript or Python. */
const TOKEN = /("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|(?<!\S)(?:#|\/\/) .*)/

function Colored({ code }: { code: string }) {
  const parts = code.split(TOKEN)
  return parts.map((part, index) => {
    if (index % 2 === 0) return part
    const isName = parts[index + 1]?.startsWith(':')
    const color = /^[#/]/.test(part) ? 'text-ink-muted' : isName ? 'text-accent' : 'text-success'
    return (
      // biome-ignore lint/suspicious/noArrayIndexKey: a text may stand twice in a program, whose parts never move.
      <span key={index} className={color}>
        {part}
      </span>
    )
  })
}
