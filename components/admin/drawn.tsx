import Link from 'next/link'
import { Fragment, type ReactNode } from 'react'
import * as z from 'zod'
import { capped, labelOf, notConfirmed, TROUBLES, type Troubles, toLabel, troublesIn, WORDS } from '@/contract/words'
import { Badge } from '../ui/badge'
import { cn } from '../ui/class-names'
import { LocalTime } from '../ui/local-time'
import { textLink } from '../ui/text-link'
import { idLink } from './id-link'
import { Since } from './since'
import { StepName } from './step-texts'
import { TONES, TROUBLE_TONES } from './words'

export type Row<Contract extends z.ZodObject> = z.input<Contract>

/** Whether a field is shown; a function shows what the contract does not say. */
type Own<Contract extends z.ZodObject> = boolean | ((row: Row<Contract>) => ReactNode)
/** The fields to show, in this order. */
export type Fields<Contract extends z.ZodObject> = { [Field in keyof Row<Contract>]?: Own<Contract> }

/** Whether there is anything to show. */
export const hasValue = (value: ReactNode) => value != null && value !== false

interface Drawn<Contract extends z.ZodObject> {
  field: string
  label: string
  /** Null where the row has nothing to show. */
  draw: (row: Row<Contract>) => ReactNode
}

/** The label of each field, and how its value is shown. */
export const drawn = <Contract extends z.ZodObject>(contract: Contract, fields: Fields<Contract>): Drawn<Contract>[] =>
  Object.entries<Own<Contract> | undefined>(fields)
    .filter(([, own]) => own)
    .map(([field, own]) => ({
      field,
      label: contract.shape[field]?.meta()?.title ?? labelOf(field),
      draw: typeof own === 'function' ? own : (row) => show(field, contract.shape[field], row),
    }))

/** Its host says where it leads. A row that the product wrote itself may have any text. */
const outsideLink = (url: string) =>
  /^https?:\/\//.test(url) && URL.canParse(url) ? (
    <a href={url} target="_blank" rel="noopener noreferrer" className={cn(textLink, '@4xl:whitespace-nowrap')}>
      {new URL(url).host}
    </a>
  ) : (
    url
  )
/** A narrow column leaves its words whole. */
const stepName = (step: string) => (
  <span className="wrap-break-word @3xl:whitespace-nowrap">
    <StepName step={step} />
  </span>
)
/** The fields whose text is more than itself. */
const TEXTS: Record<string, (text: string, row: Record<string, unknown>) => ReactNode> = {
  kind: toLabel,
  name: (name, { app_id: id }) => (typeof id === 'string' ? <AppLink id={id} name={name} /> : name),
  phase: stepName,
  role: toLabel,
  step: stepName,
  url: outsideLink,
  user_id: idLink('users'),
  withdrawal_id: idLink('withdrawals'),
}

function show(field: string, schema: unknown, row: Record<string, unknown>): ReactNode {
  const value = row[field]
  if (value === null || value === undefined) return null
  if (schema instanceof z.ZodNullable || schema instanceof z.ZodOptional) return show(field, schema.unwrap(), row)
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (typeof value === 'number') return value.toLocaleString('en')
  if (Array.isArray(value)) return value.join(', ') || null
  const text = String(value)
  if (schema instanceof z.ZodISODateTime) return <LocalTime dateTime={text} format="short" />
  const own = TEXTS[field]
  if (own) return own(text, row)
  return schema instanceof z.ZodEnum ? <Word of={text} /> : text
}

/** A value of a list of the contract; a state is a badge. */
export function Word({ of }: { of: string }) {
  const word = WORDS[of] ?? of
  return of in TONES ? <Badge tone={TONES[of as keyof typeof TONES]}>{word}</Badge> : word
}

export const AppLink = ({ id, name }: { id: string; name: string }) => (
  <Link href={`/admin/apps/${id}`} className={textLink}>
    {name}
  </Link>
)

const events = (number: number, max?: number) => `${capped(number, max)} ${number === 1 ? 'event' : 'events'}`

/** “3 events waiting” and “1 event given up” */
export const EventCounts = ({
  of: { waiting, dead },
  max,
}: {
  of: { waiting: number; dead: number }
  max?: number
}) => (
  <>
    {waiting > 0 && <Badge tone="warning">{events(waiting, max)} waiting</Badge>}{' '}
    {dead > 0 && <Badge tone="danger">{events(dead, max)} given up</Badge>}
    {waiting + dead === 0 && '0'}
  </>
)

/** A state; it is not green while an application has not confirmed. */
export function StateOf({ state, tasks }: { state: string; tasks: Parameters<typeof notConfirmed>[0] }) {
  const missing = notConfirmed(tasks)
  return missing ? (
    <>
      <NotConfirmed>{WORDS[state] ?? state}</NotConfirmed> <span>{missing}</span>
    </>
  ) : (
    <Word of={state} />
  )
}

export const NotConfirmed = ({ children }: { children: string }) => <Badge tone="warning">{children}</Badge>

/** A badge for each thing that is wrong; beside a name it makes the line no higher. */
export const TroubleBadges = ({ of }: { of: Troubles }) =>
  troublesIn(of).map((name) => (
    <Fragment key={name}>
      <Badge tone={TROUBLE_TONES[name]} className="-my-0.5">
        {TROUBLES[name]}
      </Badge>{' '}
      {name === 'late' && of.late && (
        <span className="font-normal text-ink-muted text-sm">
          <Since time={of.late} />
        </span>
      )}
    </Fragment>
  ))

export const DueBy = ({ time, isPast }: { time: string | null; isPast: boolean }) => (
  <>
    {time && <LocalTime dateTime={time} format="short" />} <TroubleBadges of={{ past_due: isPast }} />
  </>
)
