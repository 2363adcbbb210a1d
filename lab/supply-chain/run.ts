import { execFile } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { billOfMaterials, loadedFiles } from '../../scripts/built-from.ts'
import { fail, root } from '../../scripts/ensure.mjs'
import { skip } from '../../scripts/suites.ts'

// Known vulnerabilities and licences of what the service is made of, and its bill of materials. Exits with 77
// where the registry answers no audit, after the rest is written.
const out = join(root, '.data/supply-chain')
mkdirSync(out, { recursive: true })

const { bill, places } = billOfMaterials(await loadedFiles())
if (!(bill.components.length > 50)) fail('The bill of materials is empty.')
writeFileSync(join(out, 'sbom.cdx.json'), JSON.stringify(bill, null, 2))
const licences = bill.components.map(
  ({ name, version, licenses = [] }) =>
    `${name} ${version} ${licenses.map(({ license, expression }) => expression ?? license?.id ?? license?.name)}`,
)
writeFileSync(join(out, 'licences.txt'), `${licences.join('\n')}\n`)
process.stdout.write(`${bill.components.length} components: ${out}\n`)

const audit = JSON.parse(await npm('audit', '--json'))
if (!audit.vulnerabilities) skip('the registry answers no audit')
interface Hole {
  name: string
  severity: string
  nodes: string[]
}
const found = Object.values<Hole>(audit.vulnerabilities).filter(({ nodes }) =>
  nodes.some((place) => places.includes(place)),
)
writeFileSync(join(out, 'audit.json'), JSON.stringify(found, null, 2))
process.stdout.write(
  `Known holes: ${found.map(({ name, severity }) => `${name} (${severity})`).join(', ') || 'none'}.\n`,
)
if (found.some(({ severity }) => /critical|high/.test(severity))) fail(`Critical or high: ${join(out, 'audit.json')}.`)

/** The standard output whatever the exit code is, because an audit with findings exits with 1. */
function npm(...args: string[]): Promise<string> {
  return new Promise((done) => {
    const options = { maxBuffer: 64 * 1024 * 1024, shell: process.platform === 'win32' }
    execFile('npm', args, options, (_error, stdout) => done(stdout || '{}'))
  })
}
