import path from 'node:path'
import { transformSync } from 'esbuild'

/** The directory that `npm run lab -- hosts` fills with the packages and a directory for each host. */
export const HOSTS_DIR = path.resolve('.data/hosts')
export const SERVICE_URL = 'http://localhost:4330'
export const DATA_DIR = path.resolve('.data/e2e-hosts')

export interface Snippets {
  html: string
  js: string
  tsx: string
}

interface Host {
  url: string
  /** Written beside the snippets of docs/own-pages.md. */
  files: (snippets: Snippets) => Record<string, string>
  /** Arguments of node for the build, and for the server of the page. */
  build?: readonly string[]
  start: readonly string[]
}

const vite = ['../node_modules/vite/bin/vite.js', 'build', '--outDir', 'public']
const next = '../node_modules/next/dist/bin/next'
const pageOf = (script: string) =>
  `<!doctype html><html lang="en"><title>Your settings</title><main id="app"></main><script type="module" src="${script}"></script></html>`
const viteConfig = (plugin: string, options = '') =>
  `import plugin from '${plugin}'\nexport default { plugins: [plugin(${options})] }\n`

export const HOSTS: Record<string, Host> = {
  express: {
    url: 'http://localhost:4331',
    files: ({ html, js }) => ({ 'public/index.html': html, 'server.js': js }),
    start: ['server.js'],
  },
  vite: {
    url: 'http://localhost:4332',
    files: ({ js, tsx }) => ({
      'index.html': pageOf('/main.tsx'),
      'main.tsx': `import 'user-account-service/no-eval'
import { createRoot } from 'react-dom/client'
import { Settings } from './settings'
createRoot(document.getElementById('app')).render(<Settings />)
`,
      'settings.tsx': tsx,
      'vite.config.js': viteConfig('@vitejs/plugin-react'),
      'server.js': js,
    }),
    build: vite,
    start: ['server.js'],
  },
  vue: {
    url: 'http://localhost:4333',
    files: ({ html, js }) => ({
      'index.html': pageOf('/main.js'),
      'main.js': `import { createApp } from 'vue'
import 'user-account-service/element'
import App from './App.vue'
createApp(App).mount('#app')
`,
      'App.vue': `<template>${/<account-email.*<\/account-deletion>/s.exec(html)?.[0]}</template>`,
      'vite.config.js': viteConfig(
        '@vitejs/plugin-vue',
        "{ template: { compilerOptions: { isCustomElement: (tag) => tag.startsWith('account-') } } }",
      ),
      'server.js': js,
    }),
    build: vite,
    start: ['server.js'],
  },
  next: {
    url: 'http://localhost:4334',
    files: ({ js, tsx }) => ({
      'app/layout.jsx':
        "export default ({ children }) => <html lang='en'><title>Your settings</title><body>{children}</body></html>\n",
      'app/page.jsx': "import { Settings } from './settings'\nexport default () => <Settings />\n",
      // Without types, for which Next would install a compiler.
      'app/settings.jsx': `'use client'\n${transformSync(tsx, { loader: 'tsx', jsx: 'preserve' }).code}`,
      // Adapts the handler of the snippet to a route handler of Next.
      'app/page-token/route.js': `${/const service = [^\n]*\n/.exec(js)?.[0]}${/const origin = [^\n]*\n/.exec(js)?.[0]}${/const headersFor.*?(?=export const)/s.exec(js)?.[0]}${/let provedAt[^\n]*\nconst sessionOf[^\n]*\n/.exec(js)?.[0]}export async function POST(request) {
${/=> \{\n( {2}const session =.*?const \{ data, error \}[^\n]*\n)/s
  .exec(js)?.[1]
  ?.replaceAll(/return response\.sendStatus\((\d+)\)/g, 'return new Response(null, { status: $1 })')
  .replace(/response\.status\(502\)\.json\((.+)\)$/m, 'Response.json($1, { status: 502 })')}
  return Response.json({ ...data, error, authenticated_at }, { status: answer.ok ? 200 : 502 })
}
`,
      'next.config.js': `export default { turbopack: { root: ${JSON.stringify(HOSTS_DIR)} } }\n`,
    }),
    build: [next, 'build'],
    start: [next, 'start', '--port', '4334'],
  },
}
