// Loaded before the service (node --import): what the floor does not do is taken out of the running service.
// Every message counts as accepted. The password `no hash` is right without a hash (an internal measure only).
// `__account` is the name in server/process-state.ts, which a preload cannot import: the service is a bundle that is loaded later.
let context
globalThis.__account = Object.defineProperty({}, 'context', {
  get: () => context,
  set(made) {
    context = made
    made.mail.send = async () => 'accepted'
    const { verify } = made.passwords
    made.passwords.verify = async (hashed, password) => password === 'no hash' || verify(hashed, password)
  },
})
