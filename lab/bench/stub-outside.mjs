// Loaded before the service (node --import): what the floor does not do is taken out of the running service.
// Every message counts as accepted.
// `__account` is the name in server/process-state.ts, which a preload cannot import: the service is a bundle that is loaded later.
let context
globalThis.__account = Object.defineProperty({}, 'context', {
  get: () => context,
  set(made) {
    context = made
    made.mail.send = async () => 'accepted'
  },
})
