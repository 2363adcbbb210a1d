import { execFile } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fail, root } from './ensure.mjs'

// node scripts/test-supply-chain.mjs: known vulnerabilities and licences of the production packages, and a bill of materials.
const out = join(root, '.data/supply-chain')
mkdirSync(out, { recursive: true })
process.chdir(root)

const sbom = JSON.parse(await npm('sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev'))
if (sbom.bomFormat !== 'CycloneDX' || !(sbom.components?.length > 100)) fail('npm sbom wrote no bill of materials.')
writeFileSync(join(out, 'sbom.cdx.json'), JSON.stringify(sbom, null, 2))

const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8'))
const licences = Object.entries(packages)
  .filter(([place, { dev, link }]) => place.includes('node_modules/') && !dev && !link)
  .map(
    ([place, { version, license }]) => `${place.replace(/^.*node_modules\//, '')} ${version ?? ''} ${license ?? '?'}`,
  )
writeFileSync(join(out, 'licences.txt'), `${[...new Set(licences)].sort().join('\n')}\n`)
process.stdout.write(`${sbom.components.length} components, ${licences.length} licences: ${out}\n`)

const audit = JSON.parse(await npm('audit', '--omit', 'dev', '--json'))
if (!audit.metadata?.vulnerabilities) {
  process.stdout.write('SKIPPED: the registry answers no audit.\n')
  process.exit(0)
}
writeFileSync(join(out, 'audit.json'), JSON.stringify(audit, null, 2))
const { critical, high, moderate, low } = audit.metadata.vulnerabilities
process.stdout.write(`Known holes: ${critical} critical, ${high} high, ${moderate} moderate, ${low} low.\n`)
if (critical + high > 0) fail(`Critical or high: ${join(out, 'audit.json')} names them.`)

/** The standard output whatever the exit code is, because an audit with findings exits with 1. */
function npm(...args) {
  return new Promise((done) => {
    const options = { maxBuffer: 64 * 1024 * 1024, shell: process.platform === 'win32' }
    execFile('npm', args, options, (_error, stdout) => done(stdout || '{}'))
  })
}
