import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, test } from 'vitest'
import { STEPS } from '@/contract/withdrawal'
import { wrongCode } from '@/testing/account'
import { givenPlainPerson, mailedCode } from '@/testing/person'
import { until } from '@/testing/until'
import { givenWorld } from '@/testing/world'

const dir = path.resolve('.data/clients')

/** What the program prints is shown where it fails. */
function run(cwd: string, program: string, ...args: string[]) {
  execFileSync(program, args, { cwd, stdio: 'pipe' })
}

interface Language {
  name: string
  flows: string
  /** Where they lie beside the generated client. */
  place: string
  /** Installs or compiles both, and returns how the flows are run. */
  build(client: string): string[]
}

const LANGUAGES: Language[] = [
  {
    name: 'python',
    flows: 'flows.py',
    place: 'flows.py',
    build(client) {
      const python = path.join(dir, 'venv/bin/python')
      run(dir, 'python3', '-m', 'venv', 'venv')
      run(dir, python, '-m', 'pip', 'install', '-q', '--force-reinstall', client)
      return [python, path.join(client, 'flows.py')]
    },
  },
  {
    name: 'go',
    flows: 'flows.go',
    place: 'flows/main.go',
    build(client) {
      run(client, 'go', 'build', '-o', 'program', './flows')
      return [path.join(client, 'program')]
    },
  },
  {
    name: 'java',
    flows: 'Flows.java',
    place: 'src/main/java/Flows.java',
    build(client) {
      run(client, 'mvn', '-q', '-B', 'compile', 'dependency:build-classpath', '-Dmdep.outputFile=classpath')
      const jars = readFileSync(path.join(client, 'classpath'), 'utf8')
      return ['java', '-cp', `${path.join(client, 'target/classes')}:${jars}`, 'Flows']
    },
  },
]

/** As an adopter would, from the document of the running service. Returns its folder. */
async function generate(url: string, name: string): Promise<string> {
  const client = path.join(dir, name)
  rmSync(client, { recursive: true, force: true })
  mkdirSync(client, { recursive: true })
  const document = path.join(dir, 'openapi.json')
  writeFileSync(document, await (await fetch(`${url}/api/v1/openapi.json`)).text())
  const project = ['--git-host', 'accounts.test', '--git-user-id', 'generated', '--git-repo-id', 'client']
  // Without it a client refuses an answer with a member that a later release adds.
  const openness = ['--additional-properties', 'disallowAdditionalPropertiesIfNotPresent=false']
  const jar = String(process.env.GENERATOR)
  run(dir, 'java', '-jar', jar, 'generate', '-g', name, '-i', document, '-o', client, ...project, ...openness)
  return client
}

test.for(LANGUAGES)('the client that openapi-generator makes for $name runs both flows', async (language, context) => {
  const { name, flows, place, build } = language
  const world = await givenWorld(context)
  const { url } = await world.start()
  const client = await generate(url, name)
  cpSync(path.resolve('lab/clients', flows), path.join(client, place), { recursive: true })
  const [program = '', ...args] = build(client)

  const person = await givenPlainPerson(world)
  const { id: USER_ID, token: TOKEN, newEmail: NEW_EMAIL, password: PASSWORD } = person
  const env = { ...process.env, BASE: url, USER_ID, TOKEN, NEW_EMAIL, PASSWORD }
  const child = spawn(program, args, { env, stdio: ['pipe', 'pipe', 'inherit'] })
  const printed = text(child.stdout)
  const code = await until('the code is mailed', () => mailedCode(world, person).code)
  child.stdin.end(`${wrongCode(code)}\n${code}\n`)
  expect((await printed).split('\n')).toEqual([
    'refused EMAIL_003',
    `verified ${NEW_EMAIL}`,
    `withdrawn ${STEPS.length} steps`,
    '',
  ])
})
