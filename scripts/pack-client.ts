import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { AREAS } from '../components/embed/own-texts.ts'
import { fail, note, root, run, tool } from './ensure.mjs'
import { OF_REACT, packParts } from './pack-parts.ts'

// npm run pack:client -- [DIRECTORY]: the typed client as a package that npm installs, in dist/ without a directory.
const destination = resolve(process.argv[2] ?? join(root, 'dist'))
const contents = join(destination, 'client')
const { name, version, license, engines, ...own } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))

rmSync(contents, { recursive: true, force: true })
mkdirSync(contents, { recursive: true })
await packParts(contents)
await writeTypesOfClient()
await writeTypesOfParts()
writePackage()
writeReadme()
const packed = await run('npm', ['pack', contents, '--pack-destination', destination, '--loglevel=error'], {
  stdio: ['ignore', 'ignore', 'inherit'],
  shell: process.platform === 'win32',
})
if (packed !== 0) fail('npm pack failed.')
note(`npm install ${join(destination, `${name}-${version}.tgz`)}`)

async function writeTypesOfClient() {
  const types = join(contents, 'types')
  const code = await declare(['contract/sdk.ts'], join(root, 'contract'), types)
  if (code !== 0) fail('The types of the client could not be written.')
  // Node resolves no path without its extension, and neither does a compiler that follows Node.
  for (const file of readdirSync(types)) {
    const path = join(types, file)
    writeFileSync(path, readFileSync(path, 'utf8').replace(/((?:from|import\() ?['"]\.\/[\w-]+)/g, '$1.js'))
  }
}

/** Writes the declarations of files, and of what they import, into a directory. Resolves with the exit code. */
function declare(files: string[], rootDir: string, outDir: string): Promise<number> {
  const compiler = ['--declaration', '--emitDeclarationOnly', '--strict', '--skipLibCheck', '--ignoreConfig']
  const modules = ['--target', 'es2024', '--module', 'esnext', '--moduleResolution', 'bundler']
  return tool('tsc', [
    ...files.map((file) => join(root, file)),
    ...compiler,
    ...modules,
    '--rootDir',
    rootDir,
    '--outDir',
    outDir,
  ])
}

/** `types.ts` describes the parts; the declarations of the components themselves would bring all that they import. */
async function writeTypesOfParts() {
  const emitted = join(contents, 'types/parts')
  const code = await declare(['components/embed/types.ts', 'components/embed/jsx-types.ts'], root, emitted)
  if (code !== 0) fail('The types of the parts could not be written.')
  const embedded = join(emitted, 'components/embed')
  const declared = readFileSync(join(embedded, 'types.d.ts'), 'utf8')
    .replaceAll(/'\.\.\/\.\.\/contract\/([\w-]+)'/g, "'./$1.js'")
    .replaceAll("'./element-types'", "'./element.js'")
    .replaceAll("'./own-texts'", "'./own-texts.js'")
  const names = [...(/interface Parts \{([^}]*)\}/.exec(declared)?.[1] ?? '').matchAll(/(\w+): \(/g)].map(
    ([, name]) => name,
  )
  writeFileSync(
    join(contents, 'types/react.d.ts'),
    `${declared}${names.map((name) => `export declare const ${name}: Parts['${name}']\n`).join('')}`,
  )
  writeFileSync(
    join(contents, 'types/texts.d.ts'),
    "import type { Texts } from './react.js'\ndeclare const texts: Texts\nexport default texts\n",
  )
  // They import nothing, because a page with the elements may have no React.
  copyFileSync(join(embedded, 'element-types.d.ts'), join(contents, 'types/element.d.ts'))
  const jsx = readFileSync(join(embedded, 'jsx-types.d.ts'), 'utf8')
  writeFileSync(join(contents, 'types/jsx.d.ts'), jsx.replaceAll("'./element-types'", "'./element.js'"))
  writeFileSync(join(contents, 'types/own-texts.d.ts'), typeOfOwnTexts())
  // What is imported for its effect alone.
  writeFileSync(join(contents, 'types/none.d.ts'), 'export {}\n')
  rmSync(emitted, { recursive: true })
}

/** Whoever builds a page reads in each comment what the text says in English. */
function typeOfOwnTexts(): string {
  const english: Record<string, object> = JSON.parse(readFileSync(join(root, 'messages/en.json'), 'utf8'))
  const areas = AREAS.map((area) => {
    const keys = Object.entries(english[area] ?? {}).filter(([, text]) => typeof text === 'string')
    return `  ${area}?: {\n${keys.map(([key, text]) => `    /** ${text} */\n    ${key}?: string\n`).join('')}  }\n`
  })
  return `export interface OwnTexts {\n${areas.join('')}}\n`
}

function writePackage() {
  const packages = { ...own.dependencies, ...own.devDependencies }
  writeFileSync(
    join(contents, 'package.json'),
    JSON.stringify(
      {
        name,
        version,
        description: 'The typed client of the User Account Service, and its settings as parts for your own pages.',
        license,
        type: 'module',
        sideEffects: ['./element/*', './no-eval.js', './styles.css'],
        engines,
        exports: {
          './client': { types: './types/sdk.d.ts', default: './client.js' },
          './react': { types: './types/react.d.ts', default: './react.js' },
          './element': { types: './types/element.d.ts', default: './element/element.js' },
          './jsx': { types: './types/jsx.d.ts' },
          './no-eval': { types: './types/none.d.ts', default: './no-eval.js' },
          './styles.css': { types: './types/none.d.ts', default: './styles.css' },
          './texts/*': { types: './types/texts.d.ts', default: './texts/*.js' },
        },
        dependencies: { zod: `^${packages.zod}` },
        // The parts alone need them; the client and the elements do not.
        peerDependencies: OF_REACT,
        peerDependenciesMeta: Object.fromEntries(Object.keys(OF_REACT).map((name) => [name, { optional: true }])),
      },
      null,
      2,
    ),
  )
}

function writeReadme() {
  writeFileSync(
    join(contents, 'README.md'),
    `# ${name}

\`\`\`ts
import { changeEmail, createClient } from '${name}/client'

const call = createClient({ baseUrl: 'https://accounts.example.com', accessToken: () => token })
await call(changeEmail, { userId }, { new_email, current_password })
\`\`\`

Your own page can show the settings, in React 19 with \`npm install @tanstack/react-query react-hook-form\` (in Next, begin the file with
\`'use client'\`):

\`\`\`tsx
import { AccountProvider, DeleteAccount, EmailSettings } from '${name}/react'
import '${name}/styles.css'
import texts from '${name}/texts/en'

const pageToken = async () => {
  const answer = await fetch('/page-token', { method: 'POST' })
  return answer.status === 401 ? null : answer.json()
}

export const Settings = () => (
  <AccountProvider baseUrl="https://accounts.example.com" userId="~customer-6" pageToken={pageToken} signInAgain="/sign-in"
    texts={texts} product="Corner Shop" supportEmail="help@shop.example.com">
    <EmailSettings />
    <DeleteAccount />
  </AccountProvider>
)
\`\`\`

In any HTML, serve the directory \`element/\` of this package:

\`\`\`html
<script type="module" src="/element/element.js"></script>
<account-email service="https://accounts.example.com" user="~customer-6" token-url="/page-token" sign-in-url="/sign-in"
  language="en" product="Corner Shop" support-email="help@shop.example.com"></account-email>
<account-deletion service="https://accounts.example.com" user="~customer-6" token-url="/page-token" sign-in-url="/sign-in"
  language="en" product="Corner Shop" support-email="help@shop.example.com"></account-deletion>
\`\`\`

\`/page-token\` is a path of your backend. It answers with the \`data\` of \`POST /api/v1/admin/users/customer-6/page-tokens\` and with the
\`authenticated_at\` that it sent there, or with 401 where nobody is signed in. \`ALLOWED_ORIGINS\` of the service lists the origin of the page.

A connected application takes its messages with a receiver, which answers a web \`Request\`:

\`\`\`ts
import { createReceiver, reportTask } from '${name}/client'

const receive = createReceiver({
  secrets: [signingSecret],
  async handle({ type, data: { account, new_email, task } }) {
    if (type === 'account.email_changed') await saveAddress(account, new_email)
    if (type !== 'account.withdrawn') return 'done'
    if (!task) {
      await deleteEverythingOf(account)
      return 'done'
    }
    await queue.add({ account, task }) // its worker calls reportTask(task, { status: 'processing', progress: { done: 3, total: 10 } })
    return 'later'
  },
})
\`\`\`

A deletion has a \`task\` where the application is registered with \`--acknowledges later\`: only then a report may end it. Without one, what
\`handle\` answers ends it, and \`'later'\` is refused with a 500.

It refuses what is not signed, hands each message on once, and the messages of an account one after the other. An address that is older than
the known one, or that belongs to a withdrawn account, never reaches \`handle\`. With several processes give it \`done\` and \`versions\` in your
database.

The service describes every operation at \`/docs/api\`. A refusal throws an \`ApiError\`, whose \`code\` never changes.
`,
  )
}
