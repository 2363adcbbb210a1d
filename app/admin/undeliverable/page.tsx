import Link from 'next/link'
import { Part } from '@/components/admin/part'
import { Table } from '@/components/admin/table'
import { buttonStyle } from '@/components/ui/button-style'
import { listUndeliverableUsers as contract } from '@/contract/admin'
import { listUndeliverableUsers } from '@/domain/accounts/list-undeliverable'
import type { PageProps } from '@/server/pages/session'
import { AdminPage } from '../admin-page'
import { operatorContext, titleForOperators } from '../for-operators'

export const generateMetadata = titleForOperators('Addresses that take no mail')

const SHOWN = '50'

export default async function UndeliverablePage({ searchParams }: PageProps) {
  const ctx = await operatorContext('/admin/undeliverable')
  const { after } = await searchParams
  const place = typeof after === 'string' ? { after } : {}
  const { users, next } = await listUndeliverableUsers(ctx, { limit: SHOWN, ...place })
  return (
    <AdminPage
      section="/admin/undeliverable"
      title="Addresses that take no mail"
      description="Messages to these people come back. Reach them another way: they enter a code that did arrive, or change their address, and leave this list."
    >
      <Part title="Accounts">
        <Table
          label="Accounts"
          of={contract.data.shape.users.element}
          rows={users}
          id="user_id"
          fields={{ user_id: true, external_id: true, since: true }}
          none="Every address takes mail."
        />
        {next && (
          <Link
            href={`/admin/undeliverable?after=${encodeURIComponent(next)}`}
            className={buttonStyle({ variant: 'secondary', size: 'small', className: 'mt-4' })}
          >
            Next page
          </Link>
        )}
      </Part>
    </AdminPage>
  )
}
