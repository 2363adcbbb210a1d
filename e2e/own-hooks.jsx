import * as account from 'user-account-service/react'

/** Uses each hook that the form of docs/own-pages.md does not use. */
export function Hooks({ children }) {
  const { userId } = account.useOwnAccount()
  const { data: status } = account.useEmailStatus()
  const resend = account.useResendVerification()
  const cancel = account.useCancelEmailChange()
  const preview = account.useDeletionPreview()
  const deletion = account.useDeleteAccount()
  const { change_request_id } = status?.pending_change ?? {}
  if (deletion.data) return <Progress {...deletion.data} />
  return (
    <>
      {children}
      <p>{userId}</p>
      <button type="button" onClick={() => resend.mutate({ change_request_id })}>
        Resend
      </button>
      <p>{resend.error?.code}</p>
      <button type="button" onClick={() => cancel.mutate({ change_request_id })}>
        Cancel
      </button>
      <p>{preview.data?.allowed && 'Nothing holds it back'}</p>
      <button type="button" onClick={() => deletion.mutate({ confirmation: 'DELETE_MY_ACCOUNT' })}>
        Delete
      </button>
    </>
  )
}

const Progress = ({ withdrawal_id: withdrawalId, status_token: statusToken }) => (
  <p>The deletion is {account.useDeletionProgress({ withdrawalId, statusToken }).data?.status}</p>
)
