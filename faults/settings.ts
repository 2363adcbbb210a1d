import path from 'node:path'

export const FAULTS_DIR = path.resolve('.data/faults')
