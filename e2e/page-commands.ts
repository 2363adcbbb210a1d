import { spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { expect } from '@playwright/test'
import { isOk } from '@/testing/listening'

/** The shell blocks of a page below a heading. Without a heading, the blocks above the first one. */
export async function blocksBelow(file: string, heading?: string): Promise<string[]> {
  const [opening = '', ...sections] = (await readFile(file, 'utf8')).split(/^## /m)
  const section = heading === undefined ? opening : sections.find((part) => part.startsWith(`${heading}\n`))
  return [...(section ?? '').matchAll(/^```sh\n(.*?)^```$/gms)].map(([, commands = '']) => commands)
}

/** Runs what a page tells its reader to paste, on a port and in a directory of the test. */
export class Shell {
  constructor(
    private readonly url: string,
    private readonly dataDir: string,
  ) {}

  private spawn(commands: string, stdout: 'pipe' | 'ignore') {
    return spawn('bash', ['-euo', 'pipefail', '-c', commands], {
      // A group of its own, because a command may start others beside itself.
      detached: true,
      env: { ...process.env, DATA_DIR: this.dataDir, PORT: new URL(this.url).port },
      stdio: ['ignore', stdout, 'inherit'],
    })
  }

  async outputOf(commands: string): Promise<string> {
    const child = this.spawn(commands, 'pipe')
    const ended = new Promise((resolve) => child.once('close', resolve))
    const output = await text(child.stdout as Readable)
    expect(await ended).toBe(0)
    return output
  }

  /** Has `start` run the service while `use` runs. */
  async withService(start: string, use: () => Promise<unknown>): Promise<void> {
    const service = this.spawn(start, 'ignore')
    const ended = new Promise((resolve) => service.once('close', resolve))
    try {
      await expect.poll(() => isOk(`${this.url}/api/health/ready`), { timeout: 60_000 }).toBe(true)
      await use()
    } finally {
      endGroup(service.pid as number)
      await ended
    }
  }
}

/** Kills the whole group even after the end of the command, because the processes that it started may go on. */
function endGroup(pid: number) {
  try {
    process.kill(-pid, 'SIGTERM')
  } catch (error) {
    expect((error as NodeJS.ErrnoException).code).toBe('ESRCH')
  }
}
