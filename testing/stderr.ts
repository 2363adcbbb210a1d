import { onTestFinished, vi } from 'vitest'

/** What this process writes to standard error from now on, in place of the terminal. */
export function noted() {
  const write = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
  onTestFinished(() => write.mockRestore())
  return write.mock.calls
}
