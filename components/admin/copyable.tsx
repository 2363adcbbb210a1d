import { CopyButton } from '../ui/copy-button'

/** A text as another program takes it, and the button that copies it; `label` names it for screen readers. */
export const Copyable = ({ text, label }: { text: string; label: string }) => (
  <span className="flex flex-wrap items-center gap-x-3">
    <code className="wrap-break-word min-w-0 font-mono text-ink text-sm">{text}</code>
    <span className="-ms-3">
      <CopyButton text={text} label={label} />
    </span>
  </span>
)
