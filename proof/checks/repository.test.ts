import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { expect, test } from 'vitest'

const IGNORED = readFileSync('.gitignore', 'utf8').split('\n').filter(Boolean)
const isIgnored = (file: string) =>
  IGNORED.some((entry) =>
    entry.startsWith('*') ? file.endsWith(entry.slice(1)) : `${file}/`.startsWith(`${entry.replace(/\/$/, '')}/`),
  )

/** Every file of the repository. Folders of tools that begin with a dot do not count, except `.ci`. */
function filesBelow(directory: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    const file = path.posix.join(directory, entry.name)
    if (isIgnored(file) || (entry.isDirectory() && /^\.(?!ci$)/.test(entry.name))) return []
    if (entry.isDirectory()) return filesBelow(file)
    return entry.isFile() && file !== '.git' ? [file] : []
  })
}

/** Put together here, so that this file is searched like any other. */
const FORBIDDEN: Record<string, { pattern: RegExp; example: string }> = {
  'a private key': {
    pattern: /-----BEGIN [A-Z ]*PRIVATE KEY-----\s*[\w+/]/,
    example: `-----BEGIN ${'PRIVATE'} KEY-----\nMII`,
  },
  'a key of AWS': { pattern: /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/, example: `AKIA${'A1'.repeat(8)}` },
  'a token of GitHub': { pattern: /\b(?:gh[pousr]_\w{36}|github_pat_\w{50})/, example: `ghp_${'a1'.repeat(18)}` },
  'a token of GitLab': { pattern: /\bglpat-[\w-]{20}/, example: `glpat-${'a1'.repeat(10)}` },
  'a token of npm': { pattern: /\bnpm_\w{36}\b|_authToken=\w/, example: `npm_${'a1'.repeat(18)}` },
  'a token of Slack': { pattern: /\bxox[abprs]-[\w-]{10}/, example: `xoxb-${'1'.repeat(12)}` },
  'a key of Stripe': { pattern: /\b[rs]k_live_\w{16}/, example: `sk_live_${'a1'.repeat(8)}` },
  'a key of Google': { pattern: /\bAIza[\w-]{35}\b/, example: `AIza${'a'.repeat(35)}` },
  'a key of a language model': { pattern: /\bsk-(?:ant|proj)-[\w-]{20}/, example: `sk-proj-${'a1'.repeat(12)}` },
  'a signing key of Inngest': { pattern: /\bsignkey-\w+-[\da-f]{16}/, example: `signkey-prod-${'0a'.repeat(16)}` },
  'a signed JWT': {
    pattern: /\beyJ[\w-]{10,}\.eyJ[\w-]{4,}\.[\w-]{40}/,
    example: `eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ1In0.${'a'.repeat(43)}`,
  },
  'a token or secret of this service': {
    pattern: /\b(?:uat_|wst_|svc_)[\w-]{43}\b|\bwhsec_[A-Za-z0-9+/=]{24}/,
    example: `uat_${'a'.repeat(43)}`,
  },
  'a password in a URL of another host': {
    pattern:
      /\b\w+:\/\/[^\s/:@'"`$]+:[^\s/@'"`$<]{6,}@(?!(?:127\.0\.0\.1\b|localhost\b|host\b|(?:[\w-]+\.)*(?:example|test)\b))[\w-]+\.[\w.-]+/,
    example: `postgresql://accounts:${'hunter22'}@db.internal/accounts`,
  },
  'a path of a machine': {
    pattern: /(?:^|[\s"'`=(:])(?:\/(?:home|Users)\/\w|\/(?:root|work|tmp|mnt)\/[\w.]|[A-Z]:\\(?:Users|dev))/,
    example: ` "/${'home'}/ada/project"`,
  },
  'the address of a registry in the lock file': {
    pattern: /"resolved": "(?:http|https):/,
    example: `"resolved": "${'https'}://registry.example/a.tgz"`,
  },
}

/** Published examples: of the API's description, and of the demo account's application. */
const EXAMPLES = [
  'uat_Xc3n0mJ8vQ1tRz5kWb7yLd2hPf9sGa4eUi6oKx0wTqM',
  'wst_k2Jr0m3bUuVn6cXeQyHf8zTgPa5dSw1LiO7vEqBxN4M',
  'whsec_c2lnbnMtZm9yLXRoZS1kZW1vLWNhbGVuZGFy',
]

test('L22 no file of the repository holds a key, a token, a password or a path of a machine', () => {
  const files = filesBelow('.')
  // Proves that the list has files of every kind.
  expect(files).toEqual(
    expect.arrayContaining([
      '.ci/run',
      '.npmrc',
      'package-lock.json',
      'server/main.ts',
      'proof/checks/repository.test.ts',
    ]),
  )
  expect(files.filter((file) => /(?:^|\/)node_modules\/|\.env$|\.pem$|\.key$/.test(file))).toEqual([])
  const found = files.flatMap((file) => {
    const text = EXAMPLES.reduce((all, example) => all.replaceAll(example, ''), readFileSync(file, 'latin1'))
    return Object.entries(FORBIDDEN).flatMap(([what, { pattern }]) => {
      const match = pattern.exec(text)
      return match ? `${file}:${text.slice(0, match.index).split('\n').length}: ${what}` : []
    })
  })
  expect(found).toEqual([])
})

test.each(Object.entries(FORBIDDEN))('the search finds %s', (_what, { pattern, example }) => {
  expect(example).toMatch(pattern)
})

const PERMITTED = new Set([
  ...['MIT', 'MIT-0', 'ISC', '0BSD', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0', 'Unlicense'],
  ...['CC0-1.0', 'CC-BY-4.0', 'MPL-2.0', 'OFL-1.1', 'PostgreSQL', 'Python-2.0'],
])
/** Each with the reason for which it may be here. */
const EXCEPTIONS: [name: RegExp, licence: string][] = [
  // Its package.json writes the name of OFL-1.1 out.
  [/^geist$/, 'SIL OPEN FONT LICENSE'],
  // Its package.json names the MIT licence in words of its own.
  [/^starkbank-ecdsa$/, 'MIT License'],
  // Its package.json says it with a small letter.
  [/^@visx\/vendor$/, 'MIT and ISC'],
  // The library with which Next resizes images, which no page has. The packed service leaves it out.
  [/^@img\/sharp-/, 'LGPL-3.0-or-later'],
  // Come with Prisma's command, in its studio and its driver for MySQL, and are in no build. The second has the MIT licence in a file alone.
  [/^elkjs$/, 'EPL-2.0'],
  [/^seq-queue$/, ''],
]

interface Locked {
  version?: string
  license?: string
  resolved?: string
  link?: boolean
}

function licenceProblem([place, { license = '' }]: [string, Locked]): string | null {
  const name = place.replace(/^.*node_modules\//, '')
  const parts = license.replaceAll(/[()]/g, '').split(/ (?:AND|OR) /)
  const isChoice = license.includes(' OR ')
  const isPermitted = isChoice ? parts.some((part) => PERMITTED.has(part)) : parts.every((part) => PERMITTED.has(part))
  if (isPermitted) return null
  const exception = EXCEPTIONS.find(([pattern]) => pattern.test(name))?.[1]
  if (exception !== undefined && parts.every((part) => part === exception || PERMITTED.has(part))) return null
  return `${name}: ${license || 'no licence'}`
}

test('L22 every package has a permitted licence or a named exception', () => {
  const { packages } = JSON.parse(readFileSync('package-lock.json', 'utf8')) as { packages: Record<string, Locked> }
  const installed = Object.entries(packages).filter(([place, { link }]) => place.includes('node_modules/') && !link)
  expect(installed.length).toBeGreaterThan(100)
  expect(installed.map(licenceProblem).filter(Boolean)).toEqual([])
  expect(licenceProblem(['node_modules/a', { license: 'GPL-3.0' }])).toBe('a: GPL-3.0')
  expect(licenceProblem(['node_modules/a', { license: 'MIT AND AGPL-3.0' }])).toBe('a: MIT AND AGPL-3.0')
  expect(licenceProblem(['node_modules/a', {}])).toBe('a: no licence')
  expect(licenceProblem(['node_modules/a', { license: '(MIT OR GPL-2.0)' }])).toBe(null)
})

test('every file imports zod as a namespace, so that bundles leave out its messages in fifty languages', () => {
  const sources = filesBelow('.').filter((file) => /\.m?tsx?$/.test(file))
  const importsOfZod = (text: string) => [...text.matchAll(/^import (.+) from 'zod'$/gm)].map(([, names]) => names)
  const found = sources.flatMap((file) =>
    importsOfZod(readFileSync(file, 'utf8')).map((names) => ({ file, names: names?.replace('type ', '') })),
  )
  expect(found.length).toBeGreaterThan(10)
  expect(found.filter(({ names }) => names !== '* as z')).toEqual([])
})

test('docs/adding.md names files and lists that exist', () => {
  const sources = filesBelow('.').filter((file) => /\.(?:ts|tsx|mjs)$/.test(file))
  const code = sources.map((file) => readFileSync(file, 'utf8')).join('\n')
  const names = [...readFileSync('docs/adding.md', 'utf8').matchAll(/`([^`\n]+)`/g)].map(([, name]) => `${name}`)
  const paths = names.filter((name) => /^[\w.@-]+\/[\w./-]+\.[a-z]+$/.test(name))
  const lists = names.filter((name) => /^[A-Z][A-Z_]{2,}$/.test(name))
  expect(Math.min(paths.length, lists.length)).toBeGreaterThan(10)
  expect(paths.filter((file) => !existsSync(file))).toEqual([])
  expect(lists.filter((list) => !new RegExp(`\\b${list}\\b`).test(code))).toEqual([])
})

/** The anchor that a heading gets. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .replaceAll(' ', '-')

const markdownOf = (file: string) => readFileSync(file, 'utf8').replaceAll(/^```.*?^```$/gms, '')

test('every link of a document leads to a file that exists, and to a heading of it', () => {
  const links = filesBelow('.')
    .filter((file) => file.endsWith('.md'))
    .flatMap((file) =>
      [...markdownOf(file).matchAll(/\]\((?!\w+:)([^)#]*)#?([^)]*)\)/g)].map(([link, target, anchor]) => ({
        place: `${file} ${link}`,
        target: target ? path.join(path.dirname(file), target) : file,
        anchor,
      })),
    )
  const isBroken = ({ target, anchor }: (typeof links)[number]) =>
    !existsSync(target) ||
    (anchor &&
      ![...markdownOf(target).matchAll(/^#+ (.*)$/gm)].some(([, heading = '']) => anchorOf(heading) === anchor))
  expect(links.length).toBeGreaterThan(100)
  expect(links.filter(isBroken).map(({ place }) => place)).toEqual([])
})

const MAX_TEST_LINES = 80

/** Where each test of a file begins and how many lines it has, without the table of its cases. */
function testsIn(lines: string[]): { line: number; length: number }[] {
  return lines.flatMap((text, first) => {
    const indent = /^( *)test(?:\.\w+)*\(/.exec(text)?.[1]
    if (indent === undefined || /\)$/.test(text)) return []
    let begin = first
    for (let at = first + 1; at < lines.length; at++) {
      const line = lines[at] as string
      if (!/^[)}\]]/.test(line.slice(indent.length)) || !line.startsWith(indent)) continue
      if (!/[({]$/.test(line)) return [{ line: begin + 1, length: at - begin + 1 }]
      if (line.startsWith(`${indent}]`)) begin = at
    }
    return []
  })
}

test('no test has more than eighty lines, so that each tells one story', () => {
  const tests = filesBelow('.').filter((file) => /\.(?:test|spec)\.tsx?$|^proof\/service\/[\w-]+\.ts$/.test(file))
  const all = tests.flatMap((file) =>
    testsIn(readFileSync(file, 'utf8').split('\n')).map(({ line, length }) => ({ place: `${file}:${line}`, length })),
  )
  expect(all.length).toBeGreaterThan(1_000)
  expect(all.filter(({ length }) => length > MAX_TEST_LINES)).toEqual([])
})
