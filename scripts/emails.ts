import { join } from 'node:path'
import { projectNode, root, run } from './ensure.mjs'
import { installBeside } from './install-beside.ts'

// npm run emails: react-email's preview of every mail, at http://localhost:3001 or PORT. Its server is a Next of its own (400 MB), which is
// installed below .data when it is first asked for.
const folder = await installBeside('scripts/emails')
const command = join(root, 'node_modules/react-email/dist/cli/index.mjs')
const words = ['dev', '--dir', '../../emails', '--port', process.env.PORT || '3001']
process.exit(await run(projectNode(), [command, ...words], { cwd: folder }))
