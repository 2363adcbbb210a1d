import { Rows } from '@/components/docs/rows'
import { ERRORS, type ErrorCode } from '@/contract/errors'

export const ErrorRows = ({ codes }: { codes: readonly ErrorCode[] }) => (
  <Rows
    rows={codes.map((code) => ({
      key: code,
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
