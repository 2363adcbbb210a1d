'use client'

import { useEffect, useRef, useState } from 'react'

export interface ContentsGroup {
  title: string
  entries: { id: string; title: string; mark?: string; words?: string }[]
}

/** The list of what a long page has: searchable, with the place where the reader is. On a phone it folds. */
export function Contents({ groups }: { groups: readonly ContentsGroup[] }) {
  const [words, setWords] = useState('')
  const here = useHere(groups)
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const box = list.current
    const entry = here && box?.querySelector<HTMLElement>(`a[href="#${here}"]`)
    if (box && entry) box.scrollTop = entry.offsetTop - box.clientHeight / 2
  }, [here])
  const wanted = words.toLowerCase().split(/\s+/).filter(Boolean)
  const found = groups
    .map(({ title, entries }) => ({
      title,
      entries: entries.filter((entry) => {
        const text = `${title} ${entry.title} ${entry.mark ?? ''} ${entry.words ?? ''}`.toLowerCase()
        return wanted.every((word) => text.includes(word))
      }),
    }))
    .filter(({ entries }) => entries.length > 0)
  const content = (
    <>
      <input
        type="search"
        aria-label="Search this page"
        placeholder="Search"
        value={words}
        onChange={(event) => setWords(event.target.value)}
        className="mb-3 h-10 w-full rounded-lg border border-line-control bg-surface px-3"
      />
      {found.map(({ title, entries }) => (
        <div key={title} className="pb-4">
          <p className="pb-1 font-medium">{title}</p>
          <ul>
            {entries.map((entry) => (
              <li key={entry.id}>
                <a
                  href={`#${entry.id}`}
                  aria-current={entry.id === here ? 'location' : undefined}
                  onClick={(event) => event.currentTarget.closest('details')?.removeAttribute('open')}
                  className="flex items-baseline gap-2 rounded-md px-2 py-1 text-ink-muted hover:text-ink aria-[current]:bg-accent-soft aria-[current]:text-ink max-lg:py-2"
                >
                  {entry.mark && <span className="w-11 shrink-0 font-mono text-[0.6875rem]">{entry.mark}</span>}
                  <span className="wrap-anywhere">{entry.title}</span>
                </a>
              </li>
            ))}
          </ul>
        </div>
      ))}
      <p role="status" className="text-ink-muted">
        {found.length === 0 && 'Nothing here has these words.'}
      </p>
    </>
  )
  return (
    <nav aria-label="On this page" className="text-sm max-lg:sticky max-lg:top-0 max-lg:z-10 max-lg:bg-canvas">
      <details className="border-line border-b lg:hidden">
        <summary className="cursor-pointer py-3 font-medium">Contents</summary>
        <div className="max-h-[60vh] overflow-y-auto pb-3">{content}</div>
      </details>
      <div ref={list} className="sticky top-0 max-h-screen overflow-y-auto py-8 pe-2 max-lg:hidden">
        {content}
      </div>
    </nav>
  )
}

/** The part that the top of the window shows. */
function useHere(groups: readonly ContentsGroup[]): string | undefined {
  const [here, setHere] = useState<string>()
  useEffect(() => {
    const parts = groups.flatMap(({ entries }) => entries.flatMap(({ id }) => document.getElementById(id) ?? []))
    const inView = new Set<Element>()
    const observer = new IntersectionObserver(
      (changes) => {
        for (const { target, isIntersecting } of changes) inView[isIntersecting ? 'add' : 'delete'](target)
        const first = parts.find((part) => inView.has(part))
        if (first) setHere(first.id)
      },
      { rootMargin: '-80px 0px -60% 0px' },
    )
    for (const part of parts) observer.observe(part)
    return () => observer.disconnect()
  }, [groups])
  return here
}
