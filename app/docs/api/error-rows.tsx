import type { ReactNode } from 'react'
import { Described, ReferenceRows } from '@/components/docs/reference-rows'
import { Disclosure } from '@/components/ui/disclosure'
import { textLink } from '@/components/ui/text-link'
import type { Contract } from '@/contract/define'
import { ERRORS, type ErrorCode, meaningOf } from '@/contract/errors'
import { meaningIn } from '@/contract/openapi'
import { ALL_ERRORS, codesOf, pathOf } from './reference'

/** Two codes have one message. */
const WHERE: Partial<Record<ErrorCode, ReactNode>> = {
  AUTH_002: (
    <>
      {' '}
      It comes on every operation that needs a scope, except on those of{' '}
      <a href={`${pathOf(ALL_ERRORS.id)}#WITHDRAWAL_005`} className={textLink}>
        WITHDRAWAL_005
      </a>
      .
    </>
  ),
  WITHDRAWAL_005: ' It comes on these operations, in place of AUTH_002:',
}

interface ErrorRowsProps {
  codes: readonly ErrorCode[]
  /** The anchor of the section with these rows; without it the code alone is the anchor of its row. */
  of?: string
  /** What stands below the sentence of a code. */
  more?: (code: ErrorCode) => ReactNode
}

export const ErrorRows = ({ codes, of, more }: ErrorRowsProps) => (
  <ReferenceRows
    rows={codes.map((code) => ({
      key: code,
      id: of ? `${of}.${code}` : code,
      name: code,
      note: ERRORS[code].status,
      text: (
        <>
          <strong>{ERRORS[code].message}.</strong> {meaningOf(code)}
          {WHERE[code]}
          {more?.(code)}
        </>
      ),
    }))}
  />
)

/** The codes of an operation, each with its status and meaning, which unfolds to what the caller can do. */
export const FoldedErrors = ({ contract }: { contract: Contract }) => (
  <div className="divide-y divide-line border-line border-y">
    {codesOf(contract).map((code) => (
      <Disclosure
        key={code}
        id={`${contract.name}.${code}`}
        className="scroll-mt-16 target:bg-accent-soft"
        summary={
          <span className="wrap-anywhere flex min-w-0 flex-wrap items-baseline gap-x-1.5 py-1">
            <span className="font-mono text-[0.8125rem] sm:w-36">{code}</span>
            <span className="font-normal text-ink-muted tabular-nums">{ERRORS[code].status}</span>
            <span className="font-normal text-ink">{ERRORS[code].message}</span>
          </span>
        }
      >
        <p className="ps-5.5 pb-3 text-ink-muted">
          <Described text={meaningIn(contract, code)} />
        </p>
      </Disclosure>
    ))}
  </div>
)
