import type * as z from 'zod'

type Json = Record<string, unknown>

/** The members that JavaScript calls or reads when it converts a value, awaits it, compares its length or looks up its prototype. */
const OVERRIDDEN = ['toString', 'valueOf', 'toJSON', 'then', 'constructor', '__proto__', 'length', 'size'] as const
const UNCONVERTIBLE = { toString: 1, valueOf: 1 }
const OVERRIDES: unknown[] = [1, 1e9, null, 'x', {}, [], UNCONVERTIBLE]

/** An own member, `__proto__` included: JSON.parse makes it one too. */
const withMember = (name: string, value: unknown): Json =>
  Object.defineProperty({}, name, { value, enumerable: true, configurable: true, writable: true })

const nested = (depth: number, innermost: unknown[]): unknown =>
  depth <= 1 ? innermost : [nested(depth - 1, innermost)]

/** Values of a type that no field has. Each breaks an accidental conversion. */
export const HOSTILE_VALUES: unknown[] = [
  ...OVERRIDDEN.flatMap((name) => OVERRIDES.map((value) => withMember(name, value))),
  withMember('toString', { valueOf: 1 }),
  UNCONVERTIBLE,
  [withMember('toString', 1)],
  [{ length: UNCONVERTIBLE }],
  Array.from({ length: 200 }, () => 'x'),
  { 0: 'x', length: 1 },
  { $numberInt: '1' },
  ...[1, 2, 3, 4, 5, 6].map((depth) => nested(depth, [])),
  ...[1, 2, 3].map((depth) => nested(depth, [null])),
]

/** `['data_retention', 'analytics']`: every member of a body, members of members and of lists included. */
function pathsOf(schema: z.ZodType, path: string[] = []): string[][] {
  const { def } = schema as unknown as { def: { type: string } & Record<string, z.ZodType> }
  if (def.innerType) return pathsOf(def.innerType, path)
  if (def.type === 'array' && def.element) return [path, ...pathsOf(def.element, [...path, '0'])]
  const shape = (def.type === 'object' ? def.shape : {}) as unknown as Record<string, z.ZodType>
  const below = Object.entries(shape).flatMap(([name, member]) => pathsOf(member, [...path, name]))
  return path.length > 0 ? [path, ...below] : below
}

/** The values of a member that has only a few. */
function choicesOf(schema: z.ZodType): unknown[] {
  const { def } = schema as unknown as { def: { type: string; innerType?: z.ZodType; entries?: Json } }
  if (def.innerType) return choicesOf(def.innerType)
  return def.type === 'enum' ? Object.values(def.entries ?? {}) : []
}

/** The right body, once for each value of each member that has only a few: rules may join members. */
export function rightBodies(body: z.ZodObject, valid: Json): Json[] {
  const others = Object.entries(body.shape).flatMap(([name, member]) =>
    choicesOf(member as z.ZodType).map((choice) => ({ ...valid, [name]: choice })),
  )
  return [valid, ...others]
}

function put(body: unknown, [name = '', ...rest]: string[], value: unknown): unknown {
  const copy = structuredClone(body ?? (name === '0' ? [] : {})) as Json
  copy[name] = rest.length > 0 ? put(copy[name], rest, value) : value
  return copy
}

/** Every hostile value in every member of each of the right bodies. */
export const hostileBodies = (body: z.ZodObject, rightOnes: Json[]): Json[] =>
  rightOnes.flatMap((right) =>
    pathsOf(body).flatMap((path) => HOSTILE_VALUES.map((value) => put(right, path, value) as Json)),
  )
