import type { ReactNode } from 'react'
import { ReferenceRows } from '@/components/docs/reference-rows'
import { ERRORS, type ErrorCode } from '@/contract/errors'

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
          <strong>{ERRORS[code].message}.</strong> {ERRORS[code].details}
          {more?.(code)}
        </>
      ),
    }))}
  />
)
