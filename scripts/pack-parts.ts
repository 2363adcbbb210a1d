import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import tailwind from '@tailwindcss/postcss'
import { type BuildOptions, build, type Plugin, transform } from 'esbuild'
import postcss, { type AtRule, type Root } from 'postcss'
import { AREAS } from '../components/embed/own-texts.ts'
import { root } from './ensure.mjs'

const LANGUAGES = ['en', 'de', 'fr', 'es', 'pt-BR', 'ja']
/** Packages that an adopter's React page has or installs, from the oldest with which `npm run lab -- hosts` drives the parts. */
export const OF_REACT = {
  react: '^19.0.0',
  'react-dom': '^19.0.0',
  '@tanstack/react-query': '^5.62.0',
  'react-hook-form': '^7.54.0',
}

/** The options of every build of the package. */
const COMMON: BuildOptions = {
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

/** Writes the typed client, `/react` and `/element` with their style sheet and texts into `contents`. */
export async function packParts(contents: string): Promise<void> {
  const texts = await compiledTexts(contents)
  mkdirSync(join(contents, 'texts'), { recursive: true })
  for (const language of LANGUAGES) writeFileSync(join(contents, 'texts', `${language}.js`), texts[language] as string)
  const colors = await colorsOf()
  const sources = await buildClientAndReact(contents, colors)
  const styles = await stylesOf(sources.filter((path) => path.startsWith('components/')))
  writeFileSync(join(contents, 'styles.css'), FROM_NOTHING + styles)
  await build({
    ...COMMON,
    entryPoints: [{ in: 'components/embed/element.tsx', out: 'element' }],
    outdir: join(contents, 'element'),
    platform: 'browser',
    // In a shadow root stands no rule of the page.
    plugins: [builtModules({ styles: (styles + colors).replaceAll(ABOVE_THE_PAGE, ''), colors: '', texts })],
  })
  keepDirectivesInEntries(contents)
}

/** Build tools warn of the directive in every other file than an entry. */
function keepDirectivesInEntries(contents: string): void {
  for (const name of readdirSync(contents, { recursive: true, encoding: 'utf8' })) {
    if (!name.endsWith('.js') || ['react.js', join('element', 'element.js')].includes(name)) continue
    const path = join(contents, name)
    writeFileSync(path, readFileSync(path, 'utf8').replace(/^(?:(["'])use client\1;?\s*)+/, ''))
  }
}

/** One build, so that an ApiError of the client is that of the parts. Returns the files that it was made from. */
async function buildClientAndReact(contents: string, colors: string): Promise<string[]> {
  const { metafile } = await build({
    ...COMMON,
    metafile: true,
    entryPoints: [
      { in: 'contract/sdk.ts', out: 'client' },
      { in: 'components/embed/react.tsx', out: 'react' },
      { in: 'components/embed/no-eval.ts', out: 'no-eval' },
    ],
    outdir: contents,
    chunkNames: 'chunks/[name]-[hash]',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['import'],
    external: [...Object.keys(OF_REACT), 'zod'],
    banner: { js: "'use client'" },
    plugins: [builtModules({ colors })],
  })
  const thrown = Object.entries(metafile.outputs).filter(([, { inputs }]) => THROWING.some((path) => path in inputs))
  for (const [output] of thrown) await breakLines(join(root, output))
  return Object.keys(metafile.inputs)
}

/** What makes the errors that a program gets. */
const THROWING = ['contract/client.ts', 'contract/errors.ts', 'contract/receiver.ts']

/** Of an error that nobody catches, Node prints the line that threw it. */
async function breakLines(path: string): Promise<void> {
  const { code } = await transform(readFileSync(path, 'utf8'), { minify: true, lineLimit: 120 })
  writeFileSync(path, code)
}

interface Built {
  styles?: string
  colors: string
  texts?: Record<string, string>
}

function builtModules({ styles = '', colors, texts = {} }: Built): Plugin {
  const sheets: Record<string, string> = { styles, colors }
  return {
    name: 'built-modules',
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /^account-parts\// }, ({ path }) => ({ path, namespace: 'built' }))
      onLoad({ filter: /\/(?:styles|colors)$/, namespace: 'built' }, ({ path }) => ({
        contents: sheets[path.split('/').at(-1) ?? ''] as string,
        loader: 'text',
      }))
      onLoad({ filter: /\/texts\//, namespace: 'built' }, ({ path }) => ({
        contents: texts[path.split('/').at(-1) ?? ''] as string,
        loader: 'js',
      }))
    },
  }
}

async function compiledTexts(contents: string): Promise<Record<string, string>> {
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

/** Has each rule count as much as one with an id, so that it wins over what a page says of elements. */
const ABOVE_THE_PAGE = ':not(#account-parts)'
const PARTS = `.account-parts${ABOVE_THE_PAGE}`

/**
 * Inside the parts everything is as in a page without styles, until the rules after these. What an icon says in its attributes would go with
 * it, so that it is said here once more.
 */
const FROM_NOTHING = `
${PARTS} + ${PARTS} { margin-top: var(--account-gap, max(2.5rem, 40px)) }
${PARTS}::before, ${PARTS}::after,
${PARTS} :where(:not(svg *)), ${PARTS} ::before, ${PARTS} ::after, ${PARTS} ::placeholder { all: revert }
${PARTS} svg { width: 24px; height: 24px; fill: none; stroke: currentColor; stroke-width: 2; stroke-linecap: round; stroke-linejoin: round }
${PARTS} svg * { fill: inherit; stroke: inherit; stroke-width: inherit; opacity: 1 }
`

/**
 * What stands outside our cards is in the ink of the page. What follows a colour that the page sets. Where it sets none, these are invalid, and our own apply. In the dark the accent is lighter, and
 * what is written on a button is black or white, whichever can be read.
 */
const OF_THE_PAGE = `
${PARTS} {
  background: transparent;
  color: inherit;
  overflow-wrap: break-word;
  max-width: var(--account-width, calc(44 * var(--account-size, max(1rem, 16px))));
  font-family: var(--account-font, inherit);
  --own-accent: var(--account-accent);
  --own-accent-soft: color-mix(in srgb, var(--own-accent) 8%, var(--surface));
  --own-action-hover: color-mix(in oklab, var(--account-action) 88%, var(--ink));
  --own-on-action: oklch(from var(--account-action) clamp(0, (0.57 - l) * 1000, 1) 0 0);
}
${PARTS} :where(.bg-surface, [class*="-soft"]) { color: var(--ink) }
:host { display: block }
:host([hidden]) { display: none !important }
:host .follows { margin-top: var(--account-gap, max(2.5rem, 40px)) }`

const ACCENT_OF_THE_PAGE = `
  --own-accent: light-dark(var(--account-accent), oklch(from var(--account-accent) max(l, 0.75) c h));
  --own-accent-soft: light-dark(
    color-mix(in srgb, var(--own-accent) 8%, var(--surface)), color-mix(in srgb, var(--own-accent) 18%, var(--surface)))`

/** Rules for elements that no part has. */
const ABSENT =
  /^(?:hr|abbr|b|small|sub|sup|table|progress|img|select|:where\(select.*|:-moz-.*)\b|file-selector|-webkit-(?:date|search|inner|outer|calendar)/

/** The styles of our pages that these files use, for what is inside the parts alone. */
async function stylesOf(files: string[]): Promise<string> {
  const sheet = await compiledStyles(files)
  dissolveAtRules(sheet)
  followPage(sheet)
  keepInside(sheet)
  followOwnWidth(sheet)
  takeSizeAndFontFromPage(sheet)
  nameAnimations(sheet)
  sheet.prepend(postcss.parse(`${PARTS} { all: initial; display: block }`))
  sheet.append(postcss.parse(OF_THE_PAGE))
  removeUnread(sheet)
  return (await transform(sheet.toString(), { loader: 'css', minify: true })).code
}

async function compiledStyles(files: string[]): Promise<Root> {
  const from = join(root, 'app/globals.css')
  const sources = files.map((file) => `@source "../${file}";`).join('\n')
  const css = readFileSync(from, 'utf8')
    .replace('@import "tailwindcss";', `@import "tailwindcss" source(none);\n${sources}`)
    .replace('var(--font-geist-mono)', 'var(--account-font-mono, ui-monospace)')
  return (await postcss([tailwind({ optimize: true })]).process(css, { from })).root
}

function dissolveAtRules(sheet: Root): void {
  sheet.walkAtRules((rule) => {
    // No shadow root registers a property. The rule for old browsers sets the same first values.
    if (['property', 'page'].includes(rule.name)) rule.remove()
    else if (rule.name === 'supports' && (rule.parent as AtRule).params === 'properties') rule.replaceWith(rule.nodes)
  })
  sheet.walkAtRules('layer', (layer) => void layer.replaceWith(...(layer.nodes ?? [])))
}

function keepInside(sheet: Root): void {
  sheet.walkRules((rule) => {
    if ((rule.parent as AtRule).name?.endsWith('keyframes')) return
    // The parts run from left to right, also inside a page that does not.
    const isForOthers = rule.selector.includes(':dir(rtl)') || rule.selectors.every((selector) => ABSENT.test(selector))
    if (isForOthers) return void rule.remove()
    if (rule.selector === ':root')
      rule.walkDecls(/^--(?!shadow)/, (color) => {
        color.value = fromPage(color.prop, color.value)
      })
    const inside = rule.selectors.map((selector) => `${PARTS} ${selector}`.replace(/ (?::root|:host|html|body)\b/, ''))
    rule.selectors = [...new Set(inside)]
  })
}

function takeSizeAndFontFromPage(sheet: Root): void {
  sheet.walkDecls((decl) => {
    decl.value = decl.value.replace(/(?<![\w.-])([\d.]+)rem\b/g, 'calc($1 * var(--account-size, max(1rem, 16px)))')
  })
  // Many fonts of pages have no weight between plain and bold, and would show plain text.
  sheet.walkDecls('--font-weight-medium', (weight) => {
    weight.value = '600'
  })
  // Ours is drawn narrower; another font keeps its own spacing.
  sheet.walkDecls(/^(?:letter-spacing|--tw-tracking)$/, (spacing) => {
    if (spacing.value.startsWith('-')) spacing.remove()
  })
  // OF_THE_PAGE sets the font.
  sheet.walkDecls('font-family', (font) => {
    if (font.value.startsWith('var(--default-font-family')) font.remove()
  })
}

/** A page may have an animation of the same name. */
function nameAnimations(sheet: Root): void {
  sheet.walkAtRules('keyframes', (keyframes) => {
    keyframes.params = `account-${keyframes.params}`
  })
  sheet.walkDecls(/^(?:animation|--animate-\w+)$/, (animation) => {
    animation.value = animation.value.replace(/^(?=[a-z]+ )/, 'account-')
  })
}

function removeUnread(sheet: Root): void {
  const read = new Set([...sheet.toString().matchAll(/var\((--[\w-]+)/g)].map(([, name]) => name))
  sheet.walkDecls(/^--/, (property) => {
    if (!read.has(property.prop)) property.remove()
  })
}

/** The style sheet has the light colors alone; `colorsOf` makes those that follow the page. */
function followPage(sheet: Root): void {
  sheet.walkAtRules('media', (media) => {
    if (/prefers-color-scheme: ?dark/.test(media.params)) media.remove()
  })
  sheet.walkDecls('color-scheme', (decl) => {
    decl.value = 'inherit'
  })
}

/**
 * Our pages go by the width of the window. A part goes by its own, which a script notes (`data-wide`), because a column of a wide page is
 * narrow. A container query would take the width away that a part has from its content.
 */
function followOwnWidth(sheet: Root): void {
  sheet.walkAtRules('media', (media) => {
    if (!/\b40rem\)/.test(media.params)) return
    const own = media.params.startsWith('not') ? `${PARTS}:not([data-wide])` : `${PARTS}[data-wide]`
    media.walkRules((rule) => {
      rule.selectors = rule.selectors.map((selector) => selector.replace(PARTS, own))
    })
    media.replaceWith(...(media.nodes ?? []))
  })
}

/** Light or dark like the element that the parts stand in: the page may know one of both. */
async function colorsOf(): Promise<string> {
  const [light, dark] = [new Map<string, string>(), new Map<string, string>()]
  postcss.parse(readFileSync(join(root, 'app/globals.css'), 'utf8')).walkRules(':root', (rule) => {
    const colors = rule.parent?.type === 'atrule' ? dark : light
    rule.walkDecls(/^--(?!shadow)/, ({ prop, value }) => void colors.set(prop, value))
  })
  const both = [...dark].map(([prop, value]) => `${prop}:${fromPage(prop, `light-dark(${light.get(prop)},${value})`)}`)
  const css = `${PARTS} { ${both.join(';')}; ${ACCENT_OF_THE_PAGE} }`
  return (await transform(css, { loader: 'css', minify: true })).code
}

const DERIVED = ['--accent', '--accent-soft', '--action-hover', '--on-action']

const fromPage = (color: string, own: string) =>
  `var(--${DERIVED.includes(color) ? 'own' : 'account'}-${color.slice(2)},${own})`
