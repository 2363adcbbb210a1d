import type { Messages } from 'use-intl'

/** What the parts show of the catalogue. */
export const AREAS = [
  'Blockers',
  'Common',
  'DeleteAccount',
  'Deletion',
  'EmailSettings',
  'Errors',
  'Failure',
  'Identity',
] as const

type Texts<Area> = { [Key in keyof Area as Area[Key] extends string ? Key : never]?: string }

/** By area and key. `scripts/pack-client.ts` writes the keys out, because the package has no catalogue. */
export type OwnTexts = { [Area in (typeof AREAS)[number]]?: Texts<Messages[Area]> }
