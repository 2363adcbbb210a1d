import { parseArgs } from 'node:util'
import { isStorable } from '@/contract/define'
import type { SystemContext } from '@/domain/context'
import { nearestName } from '@/server/settings/nearest-name'

/** The operator's command is wrong; the message says how. */
export class UsageError extends Error {}

/** Reads standard input to its end; null in a batch, where it holds the commands. */
export type ReadInput = (() => Promise<string>) | null

/** Asks somebody at a terminal, and throws unless they agree. */
export type Ask = (question: string) => Promise<void>

/** One object; or many, which come in parts and are printed a line each. */
export type Answer = object | AsyncIterable<object[]>

export interface Option {
  /** What it means, as one sentence for the help. */
  means: string
  /** What stands for the value in the help; an option without it is a flag. */
  value?: string
  required?: true
  /** It can be given more than once. */
  multiple?: true
  /** The value follows the command without an option's name. */
  positional?: true
  choices?: readonly string[]
  /** The choices by the words of the pages, which are taken too. */
  words?: Readonly<Record<string, string>>
  /** What may be given beside the choices. */
  orElse?: string
  /** The value if it is not given. */
  otherwise?: string
  /** Turns the text into a value, or throws a UsageError that begins with the option. */
  read?(text: string, option: string): unknown
  /** Turns a name into the id that it stands for. */
  find?(ctx: SystemContext, name: string): Promise<string>
}

type Options = Record<string, Option>
type ValueOf<O extends Option> = O extends { read(text: string, option: string): infer Value }
  ? Value
  : O extends { orElse: string }
    ? string
    : O extends { choices: readonly (infer Choice)[] }
      ? Choice
      : string
type OptionValue<O extends Option> = O extends { multiple: true }
  ? ValueOf<O>[]
  : O extends { value: string }
    ? O extends { required: true } | { otherwise: string }
      ? ValueOf<O>
      : ValueOf<O> | undefined
    : boolean

/** What a command gets of its options. */
export type ValuesOf<O extends Options> = { [Name in keyof O]: OptionValue<O[Name]> }

interface Entry<O extends Options> {
  /** A noun and a verb; or one word. */
  name: string
  /** What it does, as one sentence for the help. */
  summary: string
  options: O
  /** What follows the name in the example of the help, where the options that it needs say too little. */
  example?: string
  /** Exactly one of these options must be given. */
  oneOf?: readonly (keyof O & string)[]
  /** It prints many lines, which a batch cannot. */
  printsMany?: true
  /** It makes sense before there are any data; any other is refused then. */
  needsNoData?: true
  run(ctx: SystemContext, given: ValuesOf<O>, readInput: ReadInput): Promise<Answer>
  /** What a terminal reads of the answer in place of its members. */
  says?(answer: object): string | object
}

interface FinalEntry<O extends Options> extends Entry<O> {
  /** Says what it concerns, or refuses; null where nothing would be lost. */
  asks(ctx: SystemContext, given: ValuesOf<O>): string | null | Promise<string | null>
}

export type Command = Entry<Options> & { asks?: FinalEntry<Options>['asks'] }

/**
 * Each command is one of three: what cannot be undone is `final`, which asks on a terminal first (`--yes` skips that) and takes whole
 * ids alone; what can be undone, or adds something, is `revocable`, and what changes nothing is `reading`, and neither asks.
 */
export const final = <const O extends Options>(entry: FinalEntry<O>): Command => entry as unknown as Command
export const revocable = <const O extends Options>(entry: Entry<O>): Command => entry as unknown as Command
export const reading = revocable

/** The name of what needs no option, as prose has it. */
const said = (name: string) => (name === 'id' ? 'ID' : name)

/** The option as a sentence names it. */
const labelOf = (name: string, { positional }: Option): string => (positional ? `an ${said(name)}` : `--${name}`)

/** The option as the begin of a sentence. */
const subjectOf = (name: string, { positional }: Option): string => (positional ? `The ${said(name)}` : `--${name}`)

/** What every command takes. */
export const COMMON: Options = {
  json: { means: 'Prints one JSON object, as a pipe gets it, on a terminal too.' },
  wide: { means: 'Prints tables with every column, into a pipe too.' },
  only: {
    value: 'NAME',
    means: 'Prints one member of the JSON object as plain text, such as user_id or pending_change.new_email.',
  },
}

export const optionsOf = ({ options, asks }: Command): Options =>
  asks ? { ...options, yes: { means: 'Does not ask first. Where there is no terminal, nothing is asked.' } } : options

export interface Call {
  /** Whether JSON was asked for. */
  json: boolean
  /** Whether every column of a table was asked for. */
  wide: boolean
  /** The member of the answer that was asked for alone. */
  only: string | undefined
  says: Command['says']
  run(ctx: SystemContext, readInput: ReadInput, ask?: Ask): Promise<Answer>
}

/** Reads the words of a call by the table; throws a UsageError that says what is wrong. */
export function parseCall(commands: Command[], args: string[], { inBatch }: { inBatch: boolean }): Call {
  const command = findCommand(commands, args)
  if (command.printsMany && inBatch) {
    throw new UsageError(`${command.name} does not work in a batch: it prints many lines.`)
  }
  const { json, wide, only, yes, ...texts } = readWords(command, args.slice(command.name.split(' ').length))
  if (only && (inBatch || command.printsMany)) {
    throw new UsageError(
      `--only does not work ${inBatch ? 'in a batch' : `with ${command.name}`}: it prints many lines.`,
    )
  }
  const given = readValues(command, texts) as Parameters<Command['run']>[1]
  return {
    json: json !== undefined,
    wide: wide !== undefined,
    only: only?.[0],
    says: command.says,
    async run(ctx, readInput, ask) {
      const values = await found(ctx, command, given)
      const question = ask && !yes && (await command.asks?.(ctx, values))
      if (question) await ask(question)
      return command.run(ctx, values, readInput)
    },
  }
}

/** The values with the ids of what is given by a name. */
async function found<Values extends object>(ctx: SystemContext, command: Command, given: Values): Promise<Values> {
  const values = Object.entries(given).map(async ([name, value]) => {
    const find = value === undefined ? undefined : command.options[name]?.find
    if (!find) return [name, value]
    const id = await find(ctx, String(value))
    if (command.asks && id !== value && /^(app|usr|wd|msg|txn)_/.test(String(value)))
      throw new UsageError(`${command.name} cannot be undone: give the whole ID, ${id}.`)
    return [name, id]
  })
  return Object.fromEntries(await Promise.all(values))
}

export function findCommand(commands: Command[], [noun = '', verb = '']: string[]): Command {
  if (noun === '' || noun.startsWith('-')) throw new UsageError('The command is missing; --help lists all of them.')
  const ofNoun = commandsOf(commands, noun)
  const [first] = ofNoun
  if (first?.name === noun) return first
  const verbs = ofNoun.map(({ name }) => name.slice(noun.length + 1))
  if (verb === '' || verb.startsWith('-')) throw new UsageError(`${noun} needs one of ${verbs.join(', ')} after it.`)
  const found = ofNoun.find(({ name }) => name === `${noun} ${verb}`)
  if (found) return found
  const meant = nearestName(verb, verbs)
  const hint = meant ? didYouMean(`${noun} ${meant}`) : `It has ${verbs.join(', ')}.`
  throw new UsageError(`${noun} has no command ${verb}. ${hint}`)
}

/** The nouns of commands by other words for the same. */
const SYNONYMS = new Map([
  ['deletion', 'withdrawal'],
  ['account', 'user'],
  ['person', 'user'],
  ['application', 'app'],
])

export function commandsOf(commands: Command[], noun: string): Command[] {
  const found = commands.filter(({ name }) => name.split(' ')[0] === noun)
  if (found.length > 0) return found
  const meant =
    SYNONYMS.get(noun) ??
    nearestName(
      noun,
      commands.map(({ name }) => name.split(' ')[0] ?? ''),
    )
  throw new UsageError(`Unknown command ${noun}. ${didYouMean(meant)}`)
}

const didYouMean = (meant: string | undefined): string =>
  meant ? `Did you mean ${meant}?` : '--help lists all of them.'

/** The option that an id or an address without one is meant for, where it is none of what the command takes without. */
function optionFor(text: string, options: Options, positional = ''): string | undefined {
  const isMeant = ({ value = '' }: Option) =>
    value.endsWith('…') ? text.startsWith(value.slice(0, -1)) : value === 'ADDRESS' && text.includes('@')
  const first = options[positional]
  if (first && (isMeant(first) || !first.value?.endsWith('…'))) return undefined
  return Object.keys(options).find((name) => name !== positional && isMeant(options[name] as Option))
}

const givenTwice = (option: string) => `--${option} is given more than once.`

/** The texts of each option that is given, in their order. No sentence repeats a value, which may be half of a password. */
function readWords(command: Command, args: string[]): Record<string, string[]> {
  const { name } = command
  const options: Options = { ...optionsOf(command), ...COMMON }
  const positional = Object.keys(options).find((option) => options[option]?.positional)
  const types = Object.entries(options).map(([option, { value }]) => [option, { type: value ? 'string' : 'boolean' }])
  const names = Object.keys(options).flatMap((option) => (options[option]?.positional ? [] : [`--${option}`]))
  const texts: Record<string, string[]> = {}
  // Not strict, because its own refusals repeat what was typed.
  for (const token of parseArgs({ args, options: Object.fromEntries(types), strict: false, tokens: true }).tokens) {
    if (token.kind === 'option-terminator') continue
    if (token.kind === 'positional') {
      const meant = optionFor(token.value, options, positional)
      if (meant === 'email' && options.user?.required) throw new UsageError(NEW_ADDRESS)
      if (meant && command.asks) throw new UsageError(`${name} takes this by --${meant}.`)
      if (!positional && !meant)
        throw new UsageError(`${name} takes no value without an option; quote a value with spaces.`)
      const option = meant ?? positional ?? ''
      if (texts[option])
        throw new UsageError(meant ? givenTwice(meant) : `${name} takes exactly one ${said(positional ?? '')}.`)
      texts[option] = [token.value]
      continue
    }
    const { name: option, rawName, value, inlineValue } = token
    const entry = rawName === `--${option}` && Object.hasOwn(options, option) ? options[option] : undefined
    if (!entry || entry.positional) {
      if (rawName === '--email' && options.user) throw new UsageError(ID_OF_ADDRESS)
      const meant = nearestName(rawName, names)
      throw new UsageError(`${name} has no option ${rawName}. ${didYouMean(meant)}`)
    }
    if (texts[option] && !entry.multiple) throw new UsageError(givenTwice(option))
    if (!entry.value && inlineValue) throw new UsageError(`--${option} takes no value.`)
    if (entry.value && value === undefined) throw new UsageError(`--${option} needs a value.`)
    if (entry.value && !inlineValue && /^-./.test(value ?? '')) {
      throw new UsageError(`--${option} needs a value; write --${option}=VALUE for one that begins with a hyphen.`)
    }
    texts[option] = [...(texts[option] ?? []), value ?? '']
  }
  return texts
}

function readValues(command: Command, texts: Record<string, string[]>): Record<string, unknown> {
  const { options, oneOf } = command
  for (const [name, values] of Object.entries(texts)) {
    if (isStorable(values.join(''))) continue
    throw new UsageError(`${subjectOf(name, options[name] as Option)} contains characters that cannot be stored.`)
  }
  const isGiven = (name: string) => texts[name] !== undefined && (!options[name]?.value || texts[name][0] !== '')
  const faults = Object.entries(options).flatMap(([name, option]) =>
    option.required && !isGiven(name) ? `${missing(command, name, option)}.` : [],
  )
  if (oneOf && oneOf.filter(isGiven).length !== 1)
    faults.push(`Give exactly one of ${oneOf.map((name) => labelOf(name, options[name] as Option)).join(', ')}.`)
  if (faults.length > 0) throw new UsageError(faults.join(' '))
  return Object.fromEntries(
    Object.entries(options).map(([name, option]) => {
      if (!option.value) return [name, isGiven(name)]
      const given = texts[name] ?? (option.otherwise === undefined ? [] : [option.otherwise])
      const values = given.map((text) => readValue(name, option, text))
      return [name, option.multiple ? [...new Set(values)] : values[0]]
    }),
  )
}

function missing(command: Command, name: string, option: Option): string {
  if (option.positional)
    return `${command.name} takes exactly one ${said(name)}${option.value === 'APP' ? ' or name' : ''}`
  if (option.value === 'TIME') return `--${name} is missing: a time such as 2026-11-20 or 2026-11-20T09:00:00Z`
  if (!option.value) return `--${name} is missing. ${option.means.replace(/\.$/, '')}`
  return `--${name} is missing${option.choices ? `: ${choicesOf(option)}` : ''}`
}

function readValue(name: string, option: Option, given: string): unknown {
  const text = option.words ? (option.words[given.toLowerCase()] ?? given.toLowerCase()) : given
  if (option.choices && !option.orElse && !option.choices.includes(text))
    throw new UsageError(`--${name} must be ${choicesOf(option)}.`)
  if (option.read) return option.read(text, subjectOf(name, option))
  if (option.value === 'usr_…' && text.includes('@')) throw new UsageError(ID_OF_ADDRESS)
  return text
}

const ID_OF_ADDRESS = 'Give the account by its ID, usr_…; user find --email shows the ID of an address.'

const NEW_ADDRESS = 'Name the account by --user usr_…; --email is the new address.'

function choicesOf(option: Option): string {
  const { choices = [], multiple } = option
  if (choices.length === 2 && !multiple) return choices.join(' or ')
  return `${multiple ? 'one or more' : 'one'} of ${listOfChoices(option)}`
}

export const listOfChoices = ({ choices = [], orElse, words = {} }: Option): string =>
  [...choices, ...(orElse ? [`or ${orElse}`] : [])].join(', ') +
  (Object.keys(words).length > 0 ? `; or, as the pages say, ${Object.keys(words).join(', ')}` : '')
