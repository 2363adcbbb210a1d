import { existsSync, readdirSync, rmSync } from 'node:fs'

// Runs after an installation: parts of packages that nothing here loads, 120 MB of them.

const HEADERS_OF_NODE = `node_modules/node/node_modules/node-${process.platform}-${process.arch}/include`
rmSync(HEADERS_OF_NODE, { recursive: true, force: true })

const PRISMA = 'node_modules/@prisma/client/runtime'
const OTHER_DATABASES = /^query_compiler_.*\.(?:cockroachdb|mysql|sqlite|sqlserver)\./
for (const name of existsSync(PRISMA) ? readdirSync(PRISMA) : []) {
  if (OTHER_DATABASES.test(name)) rmSync(`${PRISMA}/${name}`)
}
