import { globSync } from 'node:fs'
import { ensureBuilt } from '../../scripts/ensure.mjs'
import { hasProgram, runSuites, SKIPPED } from '../../scripts/suites.ts'

// The journeys of lab/engines in Firefox and WebKitGTK. Exits with 77 where one of them is missing, after
// the others have run. Debian has all programs: apt-get install firefox-esr webkit2gtk-driver xvfb.

const [miniBrowser] = globSync('/usr/{lib,libexec}{,/*}/webkit2gtk-4.*/MiniBrowser').toSorted().reverse()
const MISSING: Record<string, string[]> = {
  Firefox: hasProgram('firefox-esr') ? [] : ['firefox-esr'],
  WebKitGTK: [
    ...['WebKitWebDriver', 'Xvfb'].filter((program) => !hasProgram(program)),
    ...(miniBrowser ? [] : ['MiniBrowser']),
  ],
}
for (const [engine, programs] of Object.entries(MISSING)) {
  if (programs.length > 0)
    process.stdout.write(`SKIPPED: ${engine}, because there is no ${programs.join(', no ')} here.\n`)
}
const engines = Object.keys(MISSING).filter((engine) => MISSING[engine]?.length === 0)
if (engines.length === 0) process.exit(SKIPPED)
await ensureBuilt('build')
const env = { ENGINES: engines.join(','), MINI_BROWSER: miniBrowser ?? '' }
const code = await runSuites('lab', ['lab/engines/journeys.spec.ts'], env)
process.exit(code === 0 && engines.length < Object.keys(MISSING).length ? SKIPPED : code)
