import path from 'node:path'

/** Where a run keeps its cluster and everything else; another kind of run sets another place. */
export const FAULTS_DIR = path.resolve(process.env.FAULTS_DIR ?? '.data/faults')
