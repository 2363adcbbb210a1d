import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { build } from 'esbuild'
import postcss, { type AtRule } from 'postcss'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listening } from '@/testing/listening'

const root = path.resolve(import.meta.dirname, '..')
let project: string

/** Installs only from files: zod is packed from our own packages, so no registry is needed. */
beforeAll(() => {
  project = mkdtempSync(path.join(tmpdir(), 'client-'))
  const run = (...command: string[]) =>
    execFileSync(command[0] as string, command.slice(1), { cwd: project, stdio: 'pipe' })
  run(process.execPath, path.join(root, 'scripts/pack-client.ts'), project)
  run('npm', 'pack', path.join(root, 'node_modules/zod'), '--ignore-scripts')
  writeFileSync(path.join(project, 'package.json'), '{ "name": "fresh", "private": true, "type": "module" }')
  const files = ['user-account-service-2.0.0.tgz', `zod-${zodVersion()}.tgz`].map((file) => `./${file}`)
  run('npm', 'install', '--offline', '--no-audit', '--no-fund', ...files)
}, 120_000)
afterAll(() => rmSync(project, { recursive: true, force: true }))

const zodVersion = () =>
  execFileSync(process.execPath, ['-p', 'require("zod/package.json").version'], { cwd: root, encoding: 'utf8' }).trim()

const PROGRAM = `
import { ApiError, createClient, getEmailStatus, createReceiver } from 'user-account-service/client'
const call = createClient({ baseUrl: process.env.SERVICE ?? '', accessToken: () => 'uat_example' })
try {
  const { current_email } = await call(getEmailStatus, { userId: 'usr_example' })
  const email: string = current_email
  process.stdout.write(email)
} catch (error) {
  if (!(error instanceof ApiError)) throw error
  process.stdout.write(error.code + ' ' + typeof createReceiver)
}
`

test('the packed client installs into a fresh project and calls the service under Node', async () => {
  const seen: unknown[] = []
  const server = createServer((request, response) => {
    seen.push(request.method, request.url, request.headers.authorization, request.headers['x-required-scope'])
    response.writeHead(403, { 'Content-Type': 'application/json' })
    response.end(JSON.stringify({ success: false, error: { code: 'AUTH_002', message: 'm', details: 'd' } }))
  })
  try {
    writeFileSync(path.join(project, 'program.mjs'), PROGRAM.replace(': string', ''))
    const SERVICE = `http://127.0.0.1:${await listening(server)}`
    const child = spawn(process.execPath, ['program.mjs'], { cwd: project, env: { ...process.env, SERVICE } })
    let printed = ''
    child.stdout.on('data', (chunk) => {
      printed += chunk
    })
    await new Promise((ended) => child.once('close', ended))
    expect(printed).toBe('AUTH_002 function')
    expect(seen).toEqual(['GET', '/api/v1/users/usr_example/email/status', 'Bearer uat_example', 'email:manage'])
  } finally {
    server.close()
  }
})

/** What the compiler says of each program, by the name of its file. */
function check(programs: Record<string, string>, ...options: string[]): Record<string, string> {
  for (const [file, program] of Object.entries(programs)) writeFileSync(path.join(project, file), program)
  const compiler = path.join(root, 'node_modules/typescript/bin/tsc')
  const types = ['--types', 'node', '--typeRoots', path.join(root, 'node_modules/@types')]
  const files = Object.keys(programs)
  const { stdout } = spawnSync(
    process.execPath,
    [compiler, '--noEmit', '--strict', '--pretty', 'false', ...types, ...options, ...files],
    { cwd: project, encoding: 'utf8' },
  )
  // What explains a refusal is indented below it.
  const lines = stdout.trim().replaceAll(/\n +/g, ' ').split('\n')
  const said = Map.groupBy(lines, (line) => line.split('(', 1)[0] ?? '')
  const unknown = [...said.keys()].filter((name) => name !== '' && !files.includes(name))
  expect(unknown).toEqual([])
  return Object.fromEntries(files.map((file) => [file, said.get(file)?.join('\n') ?? '']))
}

const ELEMENTS = `
import 'user-account-service/element'
const part = document.querySelector('account-email')
if (part) part.pageToken = async () => null
part?.addEventListener('email-changed', ({ detail }) => detail.email.trim())
document.addEventListener('deletion-started', ({ detail }) => detail.statusToken.trim())
`

test('an error of the packed client that nobody catches prints its code and details, and no page of source', () => {
  const program = PROGRAM.replace(/try \{|\} catch[\s\S]*/g, '').replace(': string', '')
  writeFileSync(path.join(project, 'uncaught.mjs'), program)
  const env = { ...process.env, SERVICE: 'http://127.0.0.1:9' }
  const { stderr } = spawnSync(process.execPath, ['uncaught.mjs'], { cwd: project, env, encoding: 'utf8' })
  expect(stderr).toMatch(/ApiError\]?: Service unavailable/)
  expect(stderr).toContain("code: 'SERVER_002'")
  expect(Math.max(...stderr.split('\n').map((line) => line.length))).toBeLessThan(400)
})

const ELEMENTS_IN_JSX = `
import type {} from 'user-account-service/jsx'
export const Settings = () => (
  <>
    <account-email service="https://accounts.example.com" user="~customer-6" product="Shop" support-email="help@example.com"
      pageToken={async () => null} password onemail-changed={({ detail }) => detail.email.trim()} className="wide" />
    <account-deletion service="https://accounts.example.com" user="~customer-6" product="Shop" support-email="help@example.com"
      token-url="/page-token" ondeletion-started={({ detail }) => detail.statusToken.trim()} />
  </>
)
`

test('the packed client and the elements have their types without React, and they refuse a wrong call', {
  timeout: 120_000,
}, () => {
  const programs = {
    'right.ts': PROGRAM,
    'wrong.ts': PROGRAM.replace(": 'usr_example'", ': 7'),
    'elements.ts': ELEMENTS,
    'wrong-elements.ts': ELEMENTS.replace('async () => null', '7').replace('detail.email', 'detail.address'),
  }
  expect(check(programs, '--module', 'nodenext', '--target', 'es2024')).toEqual({
    'right.ts': '',
    'wrong.ts': expect.stringContaining("'number' is not assignable"),
    'elements.ts': '',
    'wrong-elements.ts': expect.stringMatching(/'number' is not assignable.*'address' does not exist/s),
  })
})

test('the packed client bundles for browsers', async () => {
  const entry = path.join(project, 'program.mjs')
  writeFileSync(entry, "export * from 'user-account-service/client'")
  const { errors, warnings } = await build({ entryPoints: [entry], bundle: true, platform: 'browser', write: false })
  expect([...errors, ...warnings]).toEqual([])
})

const ownPages = readFileSync(path.join(root, 'docs/own-pages.md'), 'utf8')

/** The blocks of docs/own-pages.md in a language, as they stand there. */
const snippets = (language: string) =>
  [...ownPages.matchAll(/^```(\w+)\n(.*?)^```$/gms)]
    .filter(([, written]) => written === language)
    .map(([, , code]) => code)
    .join('')

test('for a bundler, the packed client and the parts for React have their types, and they refuse what is wrong', {
  timeout: 120_000,
}, () => {
  for (const name of ['@types', '@tanstack', 'csstype'])
    symlinkSync(path.join(root, 'node_modules', name), path.join(project, 'node_modules', name))
  const [parts, form] = [snippets('tsx'), snippets('jsx')]
  const receiver = `declare const people: Record<'setAddress' | 'deleteAllOf', (...of: string[]) => Promise<void>>
    ${snippets('ts')}`
  const [ownCall, operation] = /call\((\w+),.*?\)/.exec(ownPages) ?? []
  const programs = {
    'right.ts': PROGRAM,
    'wrong.ts': PROGRAM.replace(": 'usr_example'", ': 7'),
    'own-call.ts': `import { ${operation} } from 'user-account-service/client'
      import { useOwnAccount } from 'user-account-service/react'
      const { userId, call } = useOwnAccount()
      ${ownCall}`,
    'parts.tsx': parts,
    'wrong-started.tsx': parts
      .replace('DeleteAccount,', 'DeletionProgress,')
      .replace('<DeleteAccount', '<DeletionProgress'),
    'wrong-parts.tsx': parts.replace('userId="~customer-6"', 'userId={6}'),
    'form.tsx': form,
    'receiver.ts': receiver,
    'wrong-receiver.ts': receiver.replace('String(new_email)', 'new_email'),
    'wrong-texts.ts': receiver.replace('title:', 'heading:'),
    'elements.tsx': ELEMENTS_IN_JSX,
    'wrong-elements.tsx': ELEMENTS_IN_JSX.replace(' user="', ' person="').replace('detail.email', 'detail.address'),
    'wrong-answer.tsx': form.replace('current_email', 'address'),
    'wrong-body.tsx': form.replace('verification_code:', 'code:'),
  }
  const bundler = ['--module', 'esnext', '--moduleResolution', 'bundler', '--target', 'es2024', '--lib', 'ES2024,DOM']
  expect(check(programs, ...bundler, '--jsx', 'react-jsx')).toEqual({
    'right.ts': '',
    'wrong.ts': expect.stringContaining("'number' is not assignable"),
    'own-call.ts': '',
    'parts.tsx': '',
    'wrong-started.tsx': expect.stringContaining('withdrawalId, statusToken'),
    'wrong-parts.tsx': expect.stringContaining("'number' is not assignable"),
    'form.tsx': '',
    'receiver.ts': '',
    'wrong-receiver.ts': expect.stringContaining('not assignable'),
    'wrong-texts.ts': expect.stringContaining("'heading' does not exist"),
    'elements.tsx': '',
    'wrong-elements.tsx': expect.stringMatching(/'person' does not exist.*'address' does not exist/s),
    'wrong-answer.tsx': expect.stringContaining("'address' does not exist"),
    'wrong-body.tsx': expect.stringContaining("'code' does not exist"),
  })
})

test('the style sheet of the parts says nothing of what is outside them, and animates under names of its own', () => {
  const sheet = postcss.parse(readFileSync(path.join(project, 'client/styles.css'), 'utf8'))
  const animations = new Set<string>()
  sheet.walkAtRules('keyframes', ({ params }) => void animations.add(params))
  const outside: string[] = []
  sheet.walkRules(({ selectors, parent }) => {
    const isStep = parent?.type === 'atrule' && (parent as AtRule).name === 'keyframes'
    if (!isStep) outside.push(...selectors.filter((selector) => !/^(?:\.account-parts|:host)\b/.test(selector)))
  })
  expect(outside).toEqual([])
  expect([...animations].toSorted()).toEqual(['account-arrive', 'account-enter', 'account-pulse', 'account-spin'])
  const used = [...sheet.toString().matchAll(/(?:animation|--animate-\w+): ?([a-z-]+) /g)].map(([, name]) => name)
  expect([...new Set(used)].toSorted()).toEqual([...animations].toSorted())
})

test('the colors of light and dark stand in the scripts of the parts, because build tools rewrite them in a style sheet', () => {
  const holders = readdirSync(path.join(project, 'client'), { recursive: true, encoding: 'utf8' }).filter(
    (file) =>
      /\.(?:js|css)$/.test(file) && readFileSync(path.join(project, 'client', file), 'utf8').includes('light-dark('),
  )
  expect(holders.map((file) => file.replace(/-\w+\.js$/, '.js')).toSorted()).toEqual(['element/element.js', 'react.js'])
})

/** Compressed with Brotli, as the pages of this service are sent, with what a file imports at once; what comes with the first call, and the texts, are left out. */
function kilobytesOf(file: string): number {
  const files = new Set<string>()
  const add = (name: string) => {
    if (files.has(name)) return
    files.add(name)
    const code = readFileSync(name, 'utf8')
    for (const [, from = ''] of code.matchAll(/(?:from|import)"(\.[^"]+)"/g))
      add(path.resolve(path.dirname(name), from))
  }
  add(path.join(project, 'client', file))
  return [...files].reduce((sum, name) => sum + brotliCompressSync(readFileSync(name)).length, 0) / 1024
}

test('the parts for React have at most 35 KB, and the elements at most 63 KB without React', async () => {
  const contents =
    "export * from 'react'; export * from 'react-dom'; export * from 'react-dom/client'; export * from 'react/jsx-runtime'"
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root },
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
    define: { 'process.env.NODE_ENV': '"production"' },
  })
  const react = brotliCompressSync(outputFiles[0]?.contents ?? '').length / 1024
  const sizes = { react: kilobytesOf('react.js'), element: kilobytesOf('element/element.js') - react }
  process.stdout.write(`parts for React: ${sizes.react.toFixed(1)} KB, elements: ${sizes.element.toFixed(1)} KB\n`)
  expect(sizes.react).toBeLessThanOrEqual(35)
  expect(sizes.element).toBeLessThanOrEqual(63)
})
