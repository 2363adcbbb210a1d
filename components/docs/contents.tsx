'use client'

import { useEffect, useRef, useState } from 'react'

export interface ContentsEntry {
  /** Its anchor, which begins the anchors of its parts. */
  id: string
  title: string
  mark?: string
  /** Further names by which a search finds it. */
  words?: string
  description?: string
  codes?: readonly string[]
  /** Names of members, each after the part in which it stands: `body.new_email`. */
  members?: readonly string[]
}

export interface ContentsGroup {
  title: string
  path: string
  entries: readonly ContentsEntry[]
}

interface ContentsProps {
  groups: readonly ContentsGroup[]
  /** The path of the page that shows them. */
  path: string
  /** What the search finds an error code by. */
  meanings: Readonly<Record<string, { message: string; details: string }>>
}

interface FoundEntry extends ContentsEntry {
  /** The part of the entry that has the words. */
  parts: { id: string; title: string }[]
}

/** The contents of all pages: those of this page in full, and of the others what a search finds. On a phone they fold. */
export function Contents({ groups, path, meanings }: ContentsProps) {
  const [words, setWords] = useState('')
  const here = useVisibleSection(groups, path)
  useRevealedAnchor()
  const list = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const box = list.current
    const entry = here && box?.querySelector<HTMLElement>(`a[href="#${here}"]`)
    if (box && entry) box.scrollTop = entry.offsetTop - box.clientHeight / 2
  }, [here])
  const searchWords = words.toLowerCase().split(/\s+/).filter(Boolean)
  const shown =
    searchWords.length > 0
      ? found(groups, searchWords, meanings)
      : groups.map((group) => (group.path === path ? group : { ...group, entries: [] }))
  const content = (
    <>
      <label className="mb-3 block font-medium noscript:hidden">
        Search the reference
        <input
          type="search"
          placeholder="Code, field or word"
          value={words}
          onChange={(event) => setWords(event.target.value)}
          onKeyDown={(event) => event.key === 'Enter' && followFirst(event.currentTarget)}
          className="mt-1.5 h-10 w-full rounded-lg border border-line-control bg-surface px-3 font-normal"
        />
      </label>
      {shown.map((group) => (
        <Group key={group.path} group={group} isHere={group.path === path} here={here} />
      ))}
      <p role="status" className="text-ink-muted">
        {shown.length === 0 && 'Nothing in the reference has these words.'}
      </p>
    </>
  )
  return (
    <nav aria-label="API reference" className="text-sm max-lg:sticky max-lg:top-0 max-lg:z-10 max-lg:bg-canvas">
      <details className="border-line border-b lg:hidden">
        <summary className="py-3 font-medium">Contents</summary>
        <div className="-mx-1 max-h-[60vh] overflow-y-auto px-1 pt-1 pb-3">{content}</div>
      </details>
      <div ref={list} className="-ms-1 sticky top-0 max-h-screen overflow-y-auto py-8 ps-1 pe-2 max-lg:hidden">
        {content}
      </div>
    </nav>
  )
}

/** Follows the first thing that was found. */
const followFirst = (field: HTMLElement) =>
  field.closest('label')?.parentElement?.querySelector<HTMLElement>('ul a')?.click()

type FoundGroup = ContentsGroup & { entries: FoundEntry[] }

/** What has all the words in its names; only if nothing has, what has them in an explanation. */
function found(
  groups: readonly ContentsGroup[],
  searchWords: readonly string[],
  meanings: ContentsProps['meanings'],
): FoundGroup[] {
  const search = (isExplained: boolean) =>
    groups
      .map((group) => searched(group, searchWords, meanings, isExplained))
      .filter(({ entries }) => entries.length > 0)
  const named = search(false)
  return named.length > 0 ? named : search(true)
}

/** The entries that have all the words, themselves or in their errors and members. */
function searched(
  group: ContentsGroup,
  searchWords: readonly string[],
  meanings: ContentsProps['meanings'],
  isExplained: boolean,
): FoundGroup {
  const isIn = (text: string) => searchWords.every((word) => text.toLowerCase().includes(word))
  const entries = group.entries.flatMap((entry) => {
    const { id, title, mark = '', words = '', description = '', codes = [], members = [] } = entry
    const found = [
      ...codes.map((code) => ({
        part: code,
        text: `${code} ${meanings[code]?.message}`,
        more: meanings[code]?.details,
      })),
      ...members.map((member) => ({ part: member, text: member, more: '' })),
    ].filter(({ text, more }) => isIn(isExplained ? `${text} ${more}` : text))
    const parts = found.map(({ part, text }) => ({ id: `${id}.${part}`, title: text }))
    const isFound = isIn(`${group.title} ${title} ${mark} ${words} ${isExplained ? description : ''}`)
    return parts.length > 0 || isFound ? [{ ...entry, parts }] : []
  })
  return { ...group, entries }
}

interface GroupProps {
  group: { title: string; path: string; entries: readonly (ContentsEntry | FoundEntry)[] }
  /** Whether the group is that of the page. */
  isHere: boolean
  /** The part that the top of the window shows. */
  here: string | undefined
}

function Group({ group, isHere, here }: GroupProps) {
  const linkTo = (id: string) => (isHere ? `#${id}` : `${group.path}#${id}`)
  return (
    <div className="pb-3">
      <a
        href={group.path}
        aria-current={isHere ? 'page' : undefined}
        className="block rounded-md py-1 font-medium hover:text-accent max-lg:py-2"
      >
        {group.title}
      </a>
      {group.entries.length > 0 && (
        <ul>
          {group.entries.map((entry) => (
            <li key={entry.id}>
              <a
                href={linkTo(entry.id)}
                aria-current={isHere && entry.id === here ? 'location' : undefined}
                onClick={foldContents}
                className="flex items-baseline gap-2 rounded-md px-2 py-1 text-ink-muted hover:text-ink aria-[current]:bg-accent-soft aria-[current]:text-ink max-lg:py-2"
              >
                {entry.mark && <span className="w-11 shrink-0 font-mono text-[0.6875rem]">{entry.mark}</span>}
                <span className="wrap-anywhere">{entry.title}</span>
              </a>
              {'parts' in entry &&
                entry.parts.map((part) => (
                  <a
                    key={part.id}
                    href={linkTo(part.id)}
                    onClick={foldContents}
                    className="wrap-anywhere ms-4 block rounded-md border-line border-s px-3 py-1 text-[0.8125rem] text-ink-muted hover:text-ink max-lg:py-2"
                  >
                    {part.title}
                  </a>
                ))}
            </li>
          ))}
        </ul>
      )}
    </div>
  )
}

/** On a phone the contents cover the place that the reader has chosen. */
const foldContents = (event: React.MouseEvent) => event.currentTarget.closest('details')?.removeAttribute('open')

/** Opens what is folded around the anchor, which not every browser does. */
function useRevealedAnchor() {
  useEffect(() => {
    const reveal = () => {
      const target = document.getElementById(location.hash.slice(1))
      const folded = target?.closest('details:not([open])')
      if (!target || !folded) return
      folded.setAttribute('open', '')
      target.scrollIntoView()
    }
    reveal()
    addEventListener('hashchange', reveal)
    return () => removeEventListener('hashchange', reveal)
  }, [])
}

/** The part that the top of the window shows. */
function useVisibleSection(groups: readonly ContentsGroup[], path: string): string | undefined {
  const [here, setHere] = useState<string>()
  useEffect(() => {
    const entries = groups.find((group) => group.path === path)?.entries ?? []
    const parts = entries.flatMap(({ id }) => document.getElementById(id) ?? [])
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
  }, [groups, path])
  return here
}
