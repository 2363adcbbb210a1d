import { acceptLostArchives, lostArchivesOf, writeArchive } from '@/domain/applications/archives'
import { command } from './command.ts'
import { counted, idOf, namedAccount, withdrawal } from './values.ts'

export const archiveCommands = [
  command({
    name: 'archive write',
    summary: "Writes an encrypted copy of the user's data into the archive store.",
    options: namedAccount,
    oneOf: ['user', 'email'],
    run: async (ctx, given) => ({ archive_id: await writeArchive(ctx, await idOf(ctx, given)) }),
  }),
  command({
    name: 'archive accept-loss',
    summary: 'Removes archives that are not in the store any more from the list, so that their step can end.',
    options: { withdrawal: { ...withdrawal, required: true, means: 'The withdrawal that waits for them.' } },
    isFinal: true,
    async run(ctx, { withdrawal }, _, agree) {
      const { length } = await lostArchivesOf(ctx, withdrawal)
      if (length > 0)
        await agree(
          () => `Take ${counted(length, 'archive')} of the deletion ${withdrawal} as lost, so that its step can end?`,
        )
      return { withdrawal_id: withdrawal, lost_archives: await acceptLostArchives(ctx, withdrawal) }
    },
  }),
]
