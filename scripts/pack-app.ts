import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { billOfMaterials, loadedFiles, programs } from './built-from.ts'
import { ensureBuilt, fail, note } from './ensure.mjs'

// npm run pack:app -- <folder>: the built service and the files of packages that it loads, and nothing else.
const [folder] = process.argv.slice(2)
if (!folder) fail('Say where to: npm run pack:app -- <folder>')
await ensureBuilt('build')

if (existsSync(folder)) fail(`${folder} is there already.`)
const loaded = await loadedFiles()
for (const file of [...programs(), ...loaded, 'LICENSE']) {
  mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
  copyFileSync(file, path.join(folder, file))
}
const NOT_LOADED = /^\.next\/(cache|build|diagnostics|types|dev|trace|trace-build)$|\.(map|nft\.json)$/
cpSync('.next', path.join(folder, '.next'), {
  recursive: true,
  verbatimSymlinks: true,
  filter: (file) => !NOT_LOADED.test(file),
})
cpSync('prisma/migrations', path.join(folder, 'prisma/migrations'), { recursive: true })
const { name, version, license } = JSON.parse(readFileSync('package.json', 'utf8'))
writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name, version, license, type: 'module' }, null, 2))
writeFileSync(path.join(folder, 'sbom.cdx.json'), JSON.stringify(billOfMaterials(loaded).bill, null, 1))
note(`The service is in ${folder}; start it there with node dist/server.mjs.`)
