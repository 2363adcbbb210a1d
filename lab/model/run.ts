import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fail, note, root } from '../../scripts/ensure.mjs'
import { skip } from '../../scripts/suites.ts'

// The properties of account.als, and the planted bugs that break them, by the Alloy Analyzer.
const VERSION = '6.2.0'
const SHA256 = '6037cbeee0e8423c1c468447ed10f5fcf2f2743a2ffc39cb1c81f2905c0fdb9d'
const JAR_URL = `https://repo1.maven.org/maven2/org/alloytools/org.alloytools.alloy.dist/${VERSION}/org.alloytools.alloy.dist-${VERSION}.jar`
const dir = path.join(root, '.data/model')
const jar = path.join(dir, `alloy-${VERSION}.jar`)
const out = path.join(dir, 'out')

mkdirSync(dir, { recursive: true })
if (spawnSync('java', ['-version']).status !== 0) skip('there is no Java here')
if (!existsSync(jar)) await download()
rmSync(out, { recursive: true, force: true })
const model = path.join(root, 'lab/model/account.als')
const args = ['-jar', jar, 'exec', '--type', 'none', '--command', '*', '--output', out, model]
if (spawnSync('java', args, { stdio: ['ignore', 'inherit', 'inherit'] }).status !== 0) fail('The model cannot be read.')

interface Command {
  type: string
  name: string
  solution?: object[]
}
const commands = Object.values<Command>(JSON.parse(readFileSync(path.join(out, 'receipt.json'), 'utf8')).commands)
const expected = readFileSync(model, 'utf8').match(/^(check|run) /gm)?.length
if (!expected || commands.length !== expected) fail(`${commands.length} of ${expected} commands were run.`)
const wrong = commands.filter(({ type, solution }) => (type === 'check') === Boolean(solution?.length))
for (const { type, name } of wrong) note(type === 'check' ? `${name}: a counterexample` : `${name}: never happens`)
if (wrong.length > 0) fail('The model does not hold.')
const checks = commands.filter(({ type }) => type === 'check').length
note(`${checks} properties hold, and ${commands.length - checks} runs find what they look for.`)

async function download() {
  const response = await fetch(JAR_URL, { signal: AbortSignal.timeout(120_000) }).catch(() => null)
  if (!response?.ok) return skip(`${JAR_URL} could not be fetched`)
  const content = Buffer.from(await response.arrayBuffer())
  const hash = createHash('sha256').update(content).digest('hex')
  if (hash !== SHA256) fail(`${JAR_URL} has another content: ${hash}`)
  writeFileSync(jar, content)
}
