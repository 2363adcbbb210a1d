export function PageHeading({ title, description }: { title: string; description?: string }) {
  return (
    <div className="mb-7 space-y-1.5">
      <h1 className="font-semibold text-[1.75rem] leading-9 tracking-[-0.028em]">{title}</h1>
      {description && <p className="max-w-prose text-ink-muted">{description}</p>}
    </div>
  )
}
