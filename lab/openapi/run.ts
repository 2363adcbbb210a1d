import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'
import { fail, root, run } from '../../scripts/ensure.mjs'
import { installBeside } from '../../scripts/install-beside.ts'

// The document against Redocly's rules and Spectral's OWASP rules. The linters come from npm when asked for.
const directory = await installBeside('lab/openapi')
const bundle = join(directory, 'openapi.mjs')
await build({
  entryPoints: [join(root, 'contract/openapi.ts')],
  outfile: bundle,
  bundle: true,
  platform: 'node',
  format: 'esm',
})
const { openApiDocument } = await import(bundle)
const installation = {
  product: 'Accounts',
  appUrl: 'https://accounts.example.com',
  productUrl: 'https://example.com/',
  supportEmail: 'support@example.com',
  termsUrl: 'https://example.com/terms',
}
writeFileSync(join(directory, 'openapi.json'), JSON.stringify(openApiDocument(installation), null, 2))
// Pages of other origins may call some operations only. Whoever has forgotten the password, or cannot sign in, has nothing to show; mail
// providers show it in ways of their own.
const RULES = `extends: ["@stoplight/spectral-owasp-ruleset", "spectral:oas"]
rules:
  owasp:api8:2023-define-cors-origin: off
overrides:
  - files: [${['password-resets', 'withdrawal-requests', 'mail-events~1%7Bsource%7D'].map((path) => `"openapi.json#/paths/~1api~1v1~1${path}"`)}]
    rules:
      owasp:api2:2023-write-restricted: off
`
writeFileSync(join(directory, '.spectral.yaml'), RULES)

const inDirectory = { cwd: directory }
for (const linter of [
  ['redocly', 'lint', 'openapi.json'],
  ['spectral', 'lint', '--fail-severity=error', 'openapi.json'],
]) {
  if ((await run('npx', ['--no-install', ...linter], inDirectory)) !== 0) fail(`Failed: ${linter[0]}.`)
}
