import { execFileSync } from 'node:child_process'
import { closeSync, fsyncSync, mkdirSync, openSync, rmSync, writeSync } from 'node:fs'
import path from 'node:path'
import type { TestContext } from 'vitest'

/** A volume of so many megabytes, to fill to the last block and to empty again. */
export class Disk {
  private constructor(readonly directory: string) {}

  /** Null where this account may not mount. */
  static mount(test: Pick<TestContext, 'onTestFinished'>, directory: string, megabytes: number): Disk | null {
    mkdirSync(directory, { recursive: true })
    try {
      execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m,mode=0711`, 'faults', directory], {
        stdio: 'ignore',
      })
    } catch {
      return null
    }
    test.onTestFinished(() => {
      // Lazily: a process that ends at this moment may still hold a file.
      execFileSync('umount', ['-l', directory])
    })
    return new Disk(directory)
  }

  private get ballast() {
    return path.join(this.directory, 'ballast')
  }

  fill() {
    const file = openSync(this.ballast, 'a')
    for (const block of [Buffer.alloc(256 * 1024, 1), Buffer.alloc(4096, 1)]) {
      try {
        for (;;) writeSync(file, block)
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error
      }
    }
    fsyncSync(file)
    closeSync(file)
  }

  free() {
    rmSync(this.ballast, { force: true })
  }
}

/** From now on no file of this process grows beyond so many bytes, as on a volume that is full; `null` gives the room back. */
export function limitFiles(pid: number, bytes: number | null) {
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${bytes ?? 'unlimited'}:`])
}

export const canLimitFiles = () => {
  try {
    execFileSync('prlimit', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
