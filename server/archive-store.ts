import { mkdir, rename, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import type { ArchiveStore } from '@/domain/context'

/** One file an archive, below the data directory. */
export function createArchiveStore({ dataDir }: { dataDir: string }): ArchiveStore {
  const directory = path.join(dataDir, 'archives')
  return {
    async put(objectKey, content) {
      await mkdir(directory, { recursive: true })
      const file = path.join(directory, objectKey)
      await writeFile(`${file}.part`, content, { mode: 0o600 })
      await rename(`${file}.part`, file)
    },
    delete: (objectKey) => rm(path.join(directory, objectKey), { force: true }),
  }
}
