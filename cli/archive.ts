import { count } from '@/contract/words'
import { acceptLostArchives, lostArchivesOf, writeArchive } from '@/domain/applications/archives'
import { final, revocable } from './command.ts'
import { idOf, namedAccount, withdrawal } from './values.ts'

export const archiveCommands = [
  revocable({
    name: 'archive write',
    summary: "Writes an encrypted copy of an account's data into the archive store.",
    options: namedAccount,
    oneOf: ['user', 'email'],
    run: async (ctx, given) => ({ archive_id: await writeArchive(ctx, idOf(given)) }),
  }),
  final({
    name: 'archive accept-loss',
    summary: 'Removes archives that are not in the store any more from the list, so that their step can end.',
    options: { withdrawal: { ...withdrawal, required: true, means: 'The withdrawal that waits for them.' } },
    async asks(ctx, { withdrawal }) {
      const { length } = await lostArchivesOf(ctx, withdrawal)
      if (length === 0) return null
      return `Take ${count(length, 'archive')} of the deletion ${withdrawal} as lost, so that its step can end?`
    },
    async run(ctx, { withdrawal }) {
      return { withdrawal_id: withdrawal, lost_archives: await acceptLostArchives(ctx, withdrawal) }
    },
  }),
]
