import { formatDuration } from '@/components/ui/duration'
import { pageLanguage, pageTexts } from '@/server/pages/language'
import { systemContext } from '@/server/system-context'

/** A sentence about the time for which the old address can undo a change; null where it cannot. */
async function duringUndoWindow(sentence: 'undoneWithin' | 'heldFor'): Promise<string | null> {
  const { undoWindowMs } = systemContext().limits
  if (undoWindowMs === 0) return null
  const t = await pageTexts('NotMe')
  return t(sentence, { time: formatDuration(undoWindowMs / 1000, await pageLanguage()) })
}

/** Says how long the old address can undo a change. */
export const undoneWithin = () => duringUndoWindow('undoneWithin')

/** Says how long an undone change holds a deletion back. */
export const heldFor = () => duringUndoWindow('heldFor')
