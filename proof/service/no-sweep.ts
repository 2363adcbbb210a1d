// The in-process sweep counts as started, so that the engine alone does the work. `__account` is the name in server/process-state.ts, which a
// preload cannot import: the service is a bundle that is loaded later.
Object.assign(globalThis, { __account: { isSweeping: true } })
