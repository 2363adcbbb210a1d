// Loaded before the service (node --import): what the floor does not do is taken out of the running service.
// Every message counts as accepted.
import type { ServiceContext } from '../../server/process-state.ts'

// `__account` is the name in server/process-state.ts, which a preload cannot import: the service is a bundle that is loaded later.
let context: ServiceContext | undefined
const account = Object.defineProperty({}, 'context', {
  get: () => context,
  set(made: ServiceContext) {
    context = made
    made.mail.send = async () => 'accepted'
  },
})
Object.assign(globalThis, { __account: account })
