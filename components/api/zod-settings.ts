// A strict policy refuses the code that zod would write for itself, and reports the attempt. zod comes with the first call or form and
// reads its settings from here; its own `config` would load a part of it now.
Object.assign(globalThis, { __zod_globalConfig: { jitless: true } })
