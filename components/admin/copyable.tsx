import { CopyButton } from '../ui/copy-button'

/** A text as another program takes it, and the button that copies it; `label` names it for screen readers. */
export const Copyable = ({ text, label }: { text: string; label: string }) => (
  <span className="flex flex-wrap items-center gap-x-3">
    <code className="min-w-0 font-mono text-ink text-sm">
      {text.split(/(?<= )/).map((word, at) => (
        // An option that breaks at its hyphens does not read as one.
        // biome-ignore lint/suspicious/noArrayIndexKey: the words of a text keep their order
        <span key={at} className="inline-block max-w-full wrap-anywhere whitespace-pre-wrap">
          {word}
        </span>
      ))}
    </code>
    <span className="-ms-3">
      <CopyButton text={text} label={label} />
    </span>
  </span>
)
