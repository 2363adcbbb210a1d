import { measureAbsence } from './work/absence'
import { measureApplications } from './work/applications'
import { measureErase } from './work/erase'
import { openBench } from './work/harness'
import { measureImport } from './work/import'
import { measureSweep } from './work/sweep'

/**
 * `npm run lab -- bench-work <what> [size]`: what the service does without a caller, or with much data, in one process and on a fresh
 * database. The size is what each measurement says: rows, steps, accounts or events.
 */
const MEASUREMENTS = {
  erase: { size: 1_000_000, measure: measureErase },
  sweep: { size: 1_000_000, measure: measureSweep },
  import: { size: 1_000_000, measure: measureImport },
  applications: { size: 10_000, measure: measureApplications },
  absence: { size: 10_000, measure: measureAbsence },
}

const [name = '', size] = process.argv.slice(2)
const found = Object.entries(MEASUREMENTS).find(([known]) => known === name)?.[1]
if (!found) throw new Error(`npm run lab -- bench-work <${Object.keys(MEASUREMENTS).join(' | ')}> [size]`)
const bench = await openBench(name)
try {
  await found.measure(bench, Number(size ?? found.size))
} finally {
  await bench.close()
}
process.exit(0)
