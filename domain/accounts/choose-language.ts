import type { Language } from '@/contract/languages'
import type { Context } from '../context'
import { RAISE_VERSION, sql, statement, text } from '../sql'

const setLocale = statement(
  'choose-language',
  { userId: text, locale: text },
  {},
  (v) => sql`UPDATE users SET locale = ${v.locale}, ${RAISE_VERSION}
   WHERE id = ${v.userId} AND locale IS DISTINCT FROM ${v.locale} AND withdrawn_at IS NULL`,
)

/** From now on the person's pages and mails are in this language. */
export async function chooseAccountLanguage(ctx: Context, language: Language): Promise<void> {
  await ctx.sql(setLocale, { userId: ctx.actor.userId, locale: language })
}
