import { globSync, readFileSync } from 'node:fs'
import { expect, expectTypeOf, test } from 'vitest'
import type { AnyContext, Context, SystemContext, Transaction } from '@/domain/context'

// The compiler checks it.
test("the context inside a transaction and the one outside do not compile in each other's place", () => {
  type Inside = Transaction<Context>
  expectTypeOf<Context>().toExtend<AnyContext>()
  expectTypeOf<Inside>().toExtend<AnyContext>()
  expectTypeOf<Inside>().toExtend<Transaction>()
  expectTypeOf<Context>().not.toExtend<Transaction>()
  expectTypeOf<Inside>().not.toExtend<SystemContext>()
  // Each acts outside the transaction, before its commit.
  type Outside = Extract<
    'background' | 'callApp' | 'db' | 'mail' | 'process' | 'transact' | 'transaction',
    keyof Inside
  >
  expectTypeOf<Outside>().toBeNever()
  expectTypeOf<Parameters<Inside['afterCommit']>[0]>().parameter(0).toEqualTypeOf<Context>()
  expectTypeOf<ThisParameterType<NonNullable<Context['keepAnswer']>>>().toEqualTypeOf<Transaction>()
})

/** The end of the brackets that open at `from`. */
function endOf(code: string, from: number): number {
  let depth = 0
  for (let at = from; at < code.length; at++) {
    if ('([{'.includes(code[at] as string)) depth++
    if (')]}'.includes(code[at] as string) && --depth === 0) return at
  }
  return code.length
}

/** What follows each `start` within the brackets around it. */
const within = (code: string, start: RegExp): string[] =>
  [...code.matchAll(start)].map(({ index, 0: { length } }) => {
    const rest = `(${code.slice(index + length)}`
    return rest.slice(0, endOf(rest, 0))
  })

/** What breaks the rule that inside a transaction there is one context, whose `sql` is the transaction. */
function problemsOf(code: string): string[] {
  const effects = within(code, /\.afterCommit\(/g)
  // An effect gets the context outside, under whatever name.
  const inside = effects.reduce((rest, effect) => rest.replace(effect, '('), code)
  const works = within(inside, /(?<=[(,]\s*(?:async )?)\(tx(?:: [^,()]+)?(?:, [^()]*)?\) =>/g)
  return [
    works.some((work) => /\bctx\b/.test(work)) && 'the work of a transaction uses the context outside',
    works.some((work) => /(?<![.\w])sql\(/.test(work)) && 'the work of a transaction runs a statement outside',
    effects.some((effect) => /\btx\b/.test(effect)) && 'an effect uses the transaction, which is over by then',
    /\bctx\??: [^()=]+,\s*tx\b|\btx: [^()=]+,\s*ctx\b/.test(code) && 'a function takes both contexts',
    /\.transaction\(\s*(?:async )?\((?!tx\b)/.test(code) && 'the context of a transaction is not called tx',
    /\.transact\(/.test(code) && '`transact` is for `transaction` alone',
  ].filter((problem) => problem !== false)
}

test('inside a transaction nothing uses another context, and after it nothing uses that of the transaction', () => {
  const files = globSync('{cli,domain,inngest,server}/**/*.ts').filter((file) => !file.endsWith('.test.ts'))
  const sources = files.map((file) => ({ file, code: readFileSync(file, 'utf8') }))
  expect(sources.flatMap(({ code }) => within(code, /\.transaction\(/g)).length).toBeGreaterThan(40)
  const found = sources.flatMap(({ file, code }) => problemsOf(code).map((problem) => `${file}: ${problem}`))
  expect(found).toEqual(['domain/context.ts: `transact` is for `transaction` alone'])
})

test.each([
  ['ctx.transaction((tx) => note(tx, ctx.clock.now()))', 'the work of a transaction uses the context outside'],
  [
    'write(ctx, input, async (tx, values) => {\n  await put(ctx)\n})',
    'the work of a transaction uses the context outside',
  ],
  [
    'ctx.transaction(async (tx) => {\n  await sql(insert, {})\n})',
    'the work of a transaction runs a statement outside',
  ],
  ['tx.afterCommit(() => send(tx))', 'an effect uses the transaction, which is over by then'],
  ['function note(ctx: Context, tx: Transaction) {}', 'a function takes both contexts'],
  ['ctx.transaction(async (inside) => note(inside))', 'the context of a transaction is not called tx'],
  ['ctx.transact((sql) => sql(insert, {}))', '`transact` is for `transaction` alone'],
])('the search finds a fault in %s', (code, problem) => {
  expect(problemsOf(code)).toEqual([problem])
})

test('the search finds no fault in a transaction whose effect uses the context outside', () => {
  const code =
    'ctx.transaction(async (tx) => {\n  tx.afterCommit((ctx) => send(ctx))\n  await tx.sql(insert, {})\n})\nsend(ctx)'
  expect(problemsOf(code)).toEqual([])
})
