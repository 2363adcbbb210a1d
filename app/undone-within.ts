import { formatDuration } from '@/components/ui/duration'
import { pageLanguage, pageTexts } from '@/server/pages/language'
import { systemContext } from '@/server/system-context'

/** Says how long the old address can undo a change; null where it cannot. */
export async function undoneWithin(): Promise<string | null> {
  const { undoWindowMs } = systemContext().limits
  if (undoWindowMs === 0) return null
  const t = await pageTexts('NotMe')
  return t('undoneWithin', { time: formatDuration(undoWindowMs / 1000, await pageLanguage()) })
}
