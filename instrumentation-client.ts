import { config } from 'zod/v4/core'

// The pages' policy refuses the code that zod would write for itself, and reports the attempt.
config({ jitless: true })
