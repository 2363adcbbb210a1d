import { ReferenceRows } from '@/components/docs/reference-rows'
import { ERRORS, type ErrorCode } from '@/contract/errors'

/** `of` is the anchor of the section with these rows. */
export const ErrorRows = ({ codes, of }: { codes: readonly ErrorCode[]; of: string }) => (
  <ReferenceRows
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
