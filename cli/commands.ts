import { appCommands } from './app.ts'
import { archiveCommands } from './archive.ts'
import { auditCommands } from './audit.ts'
import { blockerCommands } from './blocker.ts'
import type { Command } from './command.ts'
import { eventCommands } from './event.ts'
import { maintenanceCommands } from './maintenance.ts'
import { overviewCommands } from './overview.ts'
import { sessionCommands } from './session.ts'
import { taskCommands } from './task.ts'
import { serviceTokenCommands, tokenCommands } from './token.ts'
import { transactionCommands } from './transaction.ts'
import { userCommands } from './user.ts'
import { withdrawalCommands } from './withdrawal.ts'

/** Every command, in the order of the help. */
export const COMMANDS: Command[] = [
  ...overviewCommands,
  ...userCommands,
  ...tokenCommands,
  ...serviceTokenCommands,
  ...sessionCommands,
  ...withdrawalCommands,
  ...taskCommands,
  ...transactionCommands,
  ...blockerCommands,
  ...appCommands,
  ...eventCommands,
  ...archiveCommands,
  ...auditCommands,
  ...maintenanceCommands,
]
