import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { root } from './ensure.mjs'

const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt-BR', 'ja']
/** What the parts show of the catalogue. */
const AREAS = ['Blockers', 'Common', 'DeleteAccount', 'Deletion', 'EmailSettings', 'Errors', 'Failure', 'Identity']
/** Packages that an adopter's React page has or installs. */
export const OF_REACT = ['react', 'react-dom', '@tanstack/react-query', 'react-hook-form']

/** Writes the typed client, `/react` and `/element` with their style sheet and texts into `contents`. */
export async function packParts(contents) {
  const { build } = await import('esbuild')
  const texts = await compiledTexts(build, contents)
  mkdirSync(join(contents, 'texts'), { recursive: true })
  for (const language of LANGUAGES) writeFileSync(join(contents, 'texts', `${language}.js`), texts[language])
  const common = {
    absWorkingDir: root,
    bundle: true,
    format: 'esm',
    splitting: true,
    minify: true,
    target: 'es2022',
    jsx: 'automatic',
    define: { 'process.env.NODE_ENV': '"production"' },
    // Texts are compiled, so that no page loads a parser for them.
    alias: { 'use-intl/format-message': 'use-intl/format-message/format-only' },
  }
  const client = { in: 'contract/sdk.ts', out: 'client' }
  const react = { in: 'components/embed/react.tsx', out: 'react' }
  const element = { in: 'components/embed/element.tsx', out: 'element' }
  // One build, so that an ApiError of the client is that of the parts.
  const { metafile } = await build({
    ...common,
    metafile: true,
    entryPoints: [client, react],
    outdir: contents,
    chunkNames: 'chunks/[name]-[hash]',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['import'],
    external: [...OF_REACT, 'zod'],
    banner: { js: "'use client'" },
  })
  const sheet = await scopedStyles(Object.keys(metafile.inputs).filter((path) => path.startsWith('components/')))
  writeFileSync(join(contents, 'styles.css'), await amongOthers(sheet))
  const styles = sheet.toString()
  await build({
    ...common,
    entryPoints: [element],
    outdir: join(contents, 'element'),
    platform: 'browser',
    plugins: [builtModules({ styles, texts })],
  })
}

function builtModules({ styles, texts }) {
  return {
    name: 'built-modules',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^account-parts\// }, ({ path }) => ({ path, namespace: 'built' }))
      onLoad({ filter: /styles$/, namespace: 'built' }, () => ({ contents: styles, loader: 'text' }))
      onLoad({ filter: /\/texts\//, namespace: 'built' }, ({ path }) => ({
        contents: texts[path.split('/').at(-1)],
        loader: 'js',
      }))
    },
  }
}

/** A module for each language. */
async function compiledTexts(build, contents) {
  const outfile = join(contents, 'catalogue.mjs')
  const stdin = { contents: "export { compileCatalogue } from '@/server/texts/catalogue'", resolveDir: root }
  await build({ absWorkingDir: root, stdin, bundle: true, format: 'esm', platform: 'node', outfile })
  const { compileCatalogue } = await import(pathToFileURL(outfile).href)
  rmSync(outfile)
  return Object.fromEntries(
    await Promise.all(
      LANGUAGES.map(async (language) => {
        const catalogue = await compileCatalogue(language)
        const texts = Object.fromEntries(AREAS.map((area) => [area, catalogue[area]]))
        return [language, `export default ${JSON.stringify({ language, texts })}\n`]
      }),
    ),
  )
}

/** The styles of our pages that these files use, which apply below `.account-parts` and nowhere else. */
async function scopedStyles(files) {
  const { default: postcss } = await import('postcss')
  const { default: tailwind } = await import('@tailwindcss/postcss')
  const from = join(root, 'app/globals.css')
  const sources = files.map((file) => `@source "../${file}";`).join('\n')
  const css = readFileSync(from, 'utf8').replace(
    '@import "tailwindcss";',
    `@import "tailwindcss" source(none);\n${sources}`,
  )
  const { root: sheet } = await postcss([tailwind({ optimize: true })]).process(css, { from })
  const scope = postcss.atRule({ name: 'scope', params: '(.account-parts)' })
  sheet.walkRules((rule) => {
    rule.selector = rule.selector.replace(/(^|,\s*)(?::root|:host|html|body)(?=$|[\s,])/g, '$1:scope')
  })
  for (const node of sheet.nodes.slice()) {
    const isGlobal = node.type === 'atrule' && ['keyframes', 'charset'].includes(node.name)
    // No shadow root registers a property. The rule for old browsers sets the same first values.
    if (node.type === 'atrule' && ['property', 'page'].includes(node.name)) node.remove()
    else if (!isGlobal && node.type !== 'comment') scope.append(node)
  }
  scope.walkAtRules('layer', (layer) => {
    if (layer.params === 'properties') layer.walkAtRules('supports', (old) => old.replaceWith(old.nodes))
  })
  // The page around the parts has a background of its own.
  scope.append(postcss.parse(':scope { background: transparent }'))
  sheet.append(scope)
  // An element is inline unless it says so, and a margin would not apply to it.
  sheet.append(postcss.parse(':host { display: block }'))
  return sheet
}

/**
 * The same for a page without a shadow root. Its own rules for elements would win over a layer, so that only what is set on the parts as a
 * whole stays in one, where the page can replace it. Nothing is inherited from the page.
 */
async function amongOthers(sheet) {
  const { default: postcss } = await import('postcss')
  const page = sheet.clone()
  page.walkAtRules('scope', (scope) => {
    scope.walkAtRules('layer', (layer) => layer.replaceWith(...(layer.nodes ?? [])))
    const ofTheWhole = []
    scope.walkRules((rule) => {
      if (rule.selectors.every((selector) => selector === ':scope')) ofTheWhole.push(rule)
      else rule.selectors = rule.selectors.map((selector) => `:scope ${selector}`)
    })
    scope.prepend(postcss.parse('@layer account-parts { :scope { all: initial; display: block } }'))
    for (const rule of ofTheWhole) {
      const layer = postcss.atRule({ name: 'layer', params: 'account-parts' })
      rule.replaceWith(layer)
      layer.append(rule)
    }
  })
  return page.toString()
}
