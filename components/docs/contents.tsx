'use client'

import { Fragment, useEffect, useRef, useState } from 'react'
import { Disclosure } from '../ui/disclosure'
import { textLink } from '../ui/text-link'
import { type ContentsEntry, type ContentsGroup, type FoundEntry, type Meanings, search } from './search'

interface ContentsProps {
  groups: readonly ContentsGroup[]
  /** The path of the page that shows them; none where there is no such page. */
  path: string | undefined
  meanings: Meanings
  /** What to try in place of words that nothing has. */
  suggested: readonly string[]
}

/** The contents of all pages: those of this page in full, and of the others what a search finds. On a phone they fold. */
export function Contents({ groups, path, meanings, suggested }: ContentsProps) {
  const [words, setWords] = useState('')
  const here = useVisibleSection(groups, path)
  useRevealedAnchor()
  const box = useRef<HTMLDivElement>(null)
  useEffect(() => {
    const entry = here && box.current?.querySelector<HTMLElement>(`a[href="#${here}"]`)
    if (!box.current || !entry) return
    const { scrollTop, clientHeight } = box.current
    const isShown = entry.offsetTop >= scrollTop && entry.offsetTop + entry.offsetHeight <= scrollTop + clientHeight
    if (!isShown) box.current.scrollTop = entry.offsetTop - clientHeight / 2
  }, [here])
  const found = search(groups, words, meanings)
  const shown = found ?? groups.map((group) => (group.path === path ? group : { ...group, entries: [] }))
  const list = (
    <>
      {shown.map((group) => (
        <Group key={group.path} group={group} isHere={group.path === path} here={here} />
      ))}
      <p role="status" className="text-ink-muted">
        {found && found.length > 0 && <span className="sr-only">{countOf(found)}</span>}
        {shown.length === 0 && (
          <>
            Nothing in the reference has these words. Try{' '}
            {suggested.map((word) => (
              <Fragment key={word}>
                <span className="whitespace-nowrap">
                  <button type="button" className={textLink} onClick={() => setWords(word)}>
                    {word}
                  </button>
                  ,
                </span>{' '}
              </Fragment>
            ))}
            or look through the{' '}
            <a href={groups[0]?.path} className={textLink}>
              overview
            </a>
            .
          </>
        )}
      </p>
    </>
  )
  return (
    <nav
      aria-label="API reference"
      className="text-sm max-lg:sticky max-lg:top-0 max-lg:z-10 max-lg:border-line max-lg:border-b max-lg:bg-canvas max-lg:py-1"
    >
      <div className="lg:sticky lg:top-0 lg:flex lg:max-h-screen lg:flex-col lg:pt-8">
        <label className="font-medium noscript:hidden max-lg:absolute max-lg:end-0 max-lg:top-1.5 max-lg:w-[max(47%,calc(100%-7.5rem))]">
          <span className="max-lg:sr-only">Search the reference</span>
          <input
            type="search"
            placeholder="Search code, field or word"
            value={words}
            onChange={(event) => {
              setWords(event.target.value)
              contentsAround(event.currentTarget)?.setAttribute('open', '')
            }}
            onKeyDown={(event) => (event.key === 'Enter' ? followBest(event.currentTarget) : moveInList(event))}
            className="h-10 w-full rounded-lg border border-line-control bg-surface px-3 font-normal lg:mt-1.5 lg:mb-3"
          />
        </label>
        <Disclosure summary="Contents" className="lg:hidden">
          <div className="-mx-1 max-h-[60vh] overflow-y-auto px-1 pt-1 pb-3">{list}</div>
        </Disclosure>
        <div ref={box} className="relative -ms-1 min-h-0 overflow-y-auto ps-1 pe-2 pb-8 max-lg:hidden">
          {list}
        </div>
      </div>
    </nav>
  )
}

function countOf(found: readonly ContentsGroup[]): string {
  const count = found.reduce((sum, { entries }) => sum + entries.length, 0)
  return `${count} ${count === 1 ? 'result' : 'results'}`
}

/** On a phone what was found stands in the contents, and they cover the place that the reader has chosen. */
const contentsAround = (element: HTMLElement) => element.closest('nav')?.querySelector('details')
const foldContents = (event: React.MouseEvent<HTMLElement>) =>
  contentsAround(event.currentTarget)?.removeAttribute('open')

const followBest = (field: HTMLElement) => field.closest('nav')?.querySelector<HTMLElement>('[data-hit]')?.click()

/** The arrow keys go from the field through the list, and back. */
function moveInList(event: React.KeyboardEvent<HTMLElement>) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (!step) return
  const nav = event.currentTarget.closest('nav')
  const stops = [...(nav?.querySelectorAll<HTMLElement>('input, li a') ?? [])].filter((stop) => stop.checkVisibility())
  const next = stops[stops.indexOf(event.currentTarget) + step]
  if (!next) return
  event.preventDefault()
  next.focus()
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
                data-hit={'rank' in entry && entry.rank < 2 ? '' : undefined}
                aria-current={isHere && entry.id === here ? 'location' : undefined}
                onClick={foldContents}
                onKeyDown={moveInList}
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
                    data-hit=""
                    onClick={foldContents}
                    onKeyDown={moveInList}
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
function useVisibleSection(groups: readonly ContentsGroup[], path: string | undefined): string | undefined {
  const [here, setHere] = useState<string>()
  useEffect(() => {
    const entries = groups.find((group) => group.path === path)?.entries ?? []
    const parts = entries.flatMap(({ id }) => document.getElementById(id) ?? [])
    const inView = new Set<Element>()
    const observer = new IntersectionObserver(
      (changes) => {
        for (const { target, isIntersecting } of changes) inView[isIntersecting ? 'add' : 'delete'](target)
        const visible = parts.filter((part) => inView.has(part))
        // A row of a part, where both have an entry, says more once the title of the part is above the window.
        const isBehind = (part: Element) => part.getBoundingClientRect().top < 0
        const first = visible.find(
          (part) => !isBehind(part) || !visible.some((row) => row !== part && part.contains(row)),
        )
        if (first) setHere(first.id)
      },
      { rootMargin: '-80px 0px -60% 0px' },
    )
    for (const part of parts) observer.observe(part)
    return () => observer.disconnect()
  }, [groups, path])
  return here
}
