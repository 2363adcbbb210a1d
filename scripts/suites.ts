import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { tool } from './ensure.mjs'

/** The exit code of a suite that this machine cannot run. */
export const SKIPPED = 77

/** Prints a sentence, whose full stop it adds, and ends the process. */
export function skip(why: string): never {
  process.stdout.write(`SKIPPED: ${why}.\n`)
  process.exit(SKIPPED)
}

/** Ends the suite where this machine lacks one of the programs. */
export function need(...programs: string[]): void {
  for (const program of programs) if (!hasProgram(program)) skip(`there is no ${program} here`)
}

export const hasProgram = (name: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((directory) => existsSync(join(directory, name)))

/** Runs suites that have a configuration of their own, by the folder of it and the files; without a file all of them. */
export const runSuites = (folder: string, files: string[] = [], env: Record<string, string> = {}): Promise<number> =>
  tool('vitest', ['run', '--config', `${folder}/vitest.config.ts`, ...files], { env })
