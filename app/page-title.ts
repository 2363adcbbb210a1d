import type { Metadata } from 'next'
import { pageTexts } from '@/server/pages/language'
import type { Area, Catalogue } from '@/server/texts/load-catalogue'

/** The `generateMetadata` of a page whose title is a text of the catalogue. */
export const titled =
  <Name extends Area>(area: Name, key: keyof Catalogue[Name], more?: Pick<Metadata, 'referrer'>) =>
  async (): Promise<Metadata> => {
    const t = (await pageTexts(area)) as unknown as (key: keyof Catalogue[Name]) => string
    return { title: t(key), ...more }
  }
