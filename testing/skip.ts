import type { TestContext } from 'vitest'

/** For a test that needs a program which this machine does not have. */
export function skip(context: TestContext, why: string): never {
  process.stderr.write(`SKIPPED, ${why}: ${context.task.name}\n`)
  return context.skip(why)
}
