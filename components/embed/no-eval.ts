import { config } from 'zod/v4/core'

// Without it zod compiles code, which a strict policy of a page refuses and its console reports.
config({ jitless: true })
