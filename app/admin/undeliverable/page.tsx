import { NextPage } from '@/components/admin/next-page'
import { TablePart } from '@/components/admin/part'
import { listUndeliverableUsers as contract } from '@/contract/admin'
import { listUndeliverableUsers } from '@/domain/accounts/list-undeliverable'
import type { PageProps } from '@/server/pages/session'
import { AdminPage } from '../admin-page'
import { operatorContext, titleForOperators } from '../for-operators'

export const generateMetadata = titleForOperators('Undeliverable')

const SHOWN = '50'

export default async function UndeliverablePage({ searchParams }: PageProps) {
  const ctx = await operatorContext('/admin/undeliverable')
  const { after } = await searchParams
  const place = typeof after === 'string' ? { after } : {}
  const { users, next } = await listUndeliverableUsers(ctx, { limit: SHOWN, ...place })
  return (
    <AdminPage
      section="/admin/undeliverable"
      title="Undeliverable"
      description="Addresses that take no mail: messages to these people come back, so reach them another way. An account leaves this list when a code reaches its address, or when the address changes."
    >
      <TablePart
        title="Accounts"
        of={contract.data.shape.users.element}
        rows={users}
        id="user_id"
        fields={{ user_id: true, external_id: true, since: true }}
        none="No message to an account’s address is known to have come back."
      />
      <NextPage path="/admin/undeliverable?" next={next} />
    </AdminPage>
  )
}
