import { Rows } from '@/components/docs/rows'
import { ERRORS, type ErrorCode } from '@/contract/errors'

/** `of` is the anchor of the section in which they stand. */
export const ErrorRows = ({ codes, of }: { codes: readonly ErrorCode[]; of: string }) => (
  <Rows
    rows={codes.map((code) => ({
      key: code,
      id: `${of}.${code}`,
      name: code,
      note: ERRORS[code].status,
      text: (
        <>
          <strong>{ERRORS[code].message}.</strong> {ERRORS[code].details}
        </>
      ),
    }))}
  />
)
