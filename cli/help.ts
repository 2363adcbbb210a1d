import { listOf } from '@/contract/words'
import { version } from '../package.json'
import { COMMON, type Command, commandsOf, findCommand, listOfChoices, type Option, optionsOf } from './command.ts'
import { linesOf } from './show.ts'

/** A packed folder and the image have no npm. */
function startedAs(): string {
  if (process.env.npm_lifecycle_event === 'account') return 'npm run -s account --'
  return `node ${process.argv[1]?.endsWith('scripts/account.mjs') ? 'scripts' : 'dist'}/account.mjs`
}

const BATCH = {
  name: 'batch',
  summary: 'Reads one command a line from standard input, quoted as in a shell, and prints one line of JSON for each.',
}

/** The help that `--help` or `-h` among the words, or `help` before them, asks for, or the version that `--version` does; else null. */
export function helpFor(commands: Command[], args: string[]): string | null {
  if (args[0] === '--version' || args[0] === 'version') return `${version}\n`
  const isWord = (word: string) => word !== '--help' && word !== '-h'
  const words = args.filter(isWord)
  if (words.length === args.length && words[0] !== 'help') return null
  const [noun = '', verb = ''] = words[0] === 'help' ? words.slice(1) : words
  if (noun === '') return helpForAll(commands)
  if (noun === BATCH.name)
    return paragraphs(usage([BATCH.name]), wrapped(BATCH.summary), [`Example: ${startedAs()} batch < commands.txt`])
  const ofNoun = commandsOf(commands, noun)
  if (ofNoun[0]?.name !== noun && (verb === '' || verb.startsWith('-'))) return helpForNoun(ofNoun)
  return helpForCommand(findCommand(commands, [noun, verb]))
}

/** What explains the command whose words are wrong; nothing where no command is named. */
export function whereHelpIs(commands: Command[], [noun, verb]: string[]): string {
  const found = commands.find(({ name }) => name === noun || name === `${noun} ${verb}`)
  return found ? `\n${startedAs()} ${found.name} --help explains its options.` : ''
}

function helpForAll(commands: Command[]): string {
  const ofNouns = Map.groupBy(commands, ({ name }) => name.split(' ')[0])
  const width = Math.max(...commands.map(({ name }) => name.length))
  return paragraphs(
    [
      ...usage(['COMMAND', '[options]']),
      ...usage(['COMMAND', '--help', ...'explains the options of a command.'.split(' ')]),
    ],
    ...[...ofNouns.values()].map((ofNoun) =>
      aligned(
        ofNoun.map(({ name, summary }) => [name, summary]),
        width,
      ),
    ),
    aligned([[BATCH.name, BATCH.summary]], width),
    ['Every command takes these too:', ...optionLines(COMMON)],
    wrapped(
      'On a terminal a command prints what a line has room for, in the words of the pages and in its own time zone; elsewhere it prints JSON, in UTC.',
      `${listOf(commands.filter(({ printsMany }) => printsMany).map(({ name }) => name))} print a line of JSON a row everywhere.`,
      'The pages say app, deletion, fully erased, stop waiting; commands say application, withdrawal, purged, waive.',
      'An ID of an account, a withdrawal or an application may be its beginning, from six characters after the prefix on.',
      'An address or an ID needs no option before it, unless what is done cannot be undone.',
      'What cannot be undone takes whole IDs alone, and asks first on a terminal; --yes skips the question.',
      'A command that is refused prints a sentence, and its exit code is 1; where its words are wrong it is 2. With --json the last line of standard error is {"code":…,"message":…} in its place.',
      'The exit code is 1 too where an application fails a ping or a check, and where a retry was waited for and something failed again.',
      '--version prints the version.',
    ),
  )
}

const helpForNoun = (commands: Command[]): string =>
  paragraphs(
    ...commands.map((command) => [
      ...usageOf(command),
      ...linesOf(command.summary, terminalWidth() - 2).map((line) => `  ${line}`),
    ]),
  )

function helpForCommand(command: Command): string {
  return paragraphs(
    usageOf(command),
    wrapped(command.summary),
    optionLines(optionsOf(command)),
    [`Example: ${exampleOf(command)}`],
    // Many lines are JSON already, and have no member of their own.
    command.printsMany ? [] : wrapped(`It also takes ${Object.entries(COMMON).map(usageWord).join(', ')}: see --help.`),
  )
}

const usageWord = ([name, option]: [string, Option]) => withValue(name, option)

const optionLines = (options: Command['options']) =>
  aligned(
    Object.entries(options).map(([name, option]) => [
      withValue(name, option),
      [option.means, ...remarksOn(option)].join(' '),
    ]),
  )

/** What stands for a value in an example; where there is none, its first choice or its name. */
const SAMPLES: Record<string, string> = {
  ACCOUNT: 'ada@example.com',
  ADDRESS: 'ada@example.com',
  APP: 'Billing',
  'APP|URL': 'Billing',

  ID: 'customer-42',
  NAME: 'Ada',
  TIME: '2026-11-20',
  WITHDRAWAL: 'wd_4Qm9ZsX1cT7uYb2LhKpV0w',
  'msg_…': 'msg_4Qm9ZsX1cT7uYb2LhKpV0w_app_Bz0WcYt5eN8rQd3JxUfK6g',
}

const sampleOf = ({ value = '', choices = [] }: Option) =>
  SAMPLES[value] ?? choices[0] ?? value.replace('…', '4Qm9ZsX1cT7uYb2LhKpV0w')

/** A call that can be pasted: what has to be given, and the last of what is one of several. */
export function exampleOf({ name, options, oneOf = [], example }: Command): string {
  const one = oneOf.find((option) => options[option]?.positional) ?? oneOf.at(-1)
  const needed = Object.entries(options).filter(([option, { required }]) => required || option === one)
  const words = needed.map(([option, entry]) => withValue(option, { ...entry, value: entry.value && sampleOf(entry) }))
  return [startedAs(), name, example ?? words.join(' ')].filter((part) => part !== '').join(' ')
}

function remarksOn(option: Option): string[] {
  const { choices = [], otherwise, multiple } = option
  return [
    ...(choices.length > 1 ? [`One of ${listOfChoices(option)}.`] : []),
    ...(multiple ? ['It can be repeated.'] : []),
    ...(otherwise === undefined ? [] : [`If it is missing: ${otherwise}.`]),
  ]
}

/** More options that may be given are not in the line of the usage. */
const MAX_SHOWN = 5

function usageOf(command: Command): string[] {
  const { oneOf = [] } = command
  const options = optionsOf(command)
  const alternatives = oneOf.map((name) => withValue(name, options[name] as Option))
  const isFree = ([name, { required }]: [string, Option]) => !required && !oneOf.includes(name)
  const isLong = Object.entries(options).filter(isFree).length > MAX_SHOWN
  const shown = Object.entries(options).filter((entry) => !isLong || !isFree(entry))
  const parts = shown.flatMap(([name, option]) => {
    if (oneOf.includes(name)) return name === oneOf[0] ? `(${alternatives.join(' |\n')})`.split('\n') : []
    const text = withValue(name, option)
    const repeated = option.multiple ? `${text} …` : text
    return option.required ? repeated : `[${repeated}]`
  })
  return usage([command.name, ...parts, ...(isLong ? ['[options]'] : [])])
}

/** On a terminal it goes on below itself, and an option stays with its value. */
function usage(parts: string[]): string[] {
  const whole = [startedAs(), ...parts].map((part) => part.replaceAll(' ', NO_BREAK))
  const lines = linesOf(whole.join(' '), terminalWidth() - INDENT.length)
  return lines.map((line, at) => (at === 0 ? '' : INDENT) + line.replaceAll(NO_BREAK, ' '))
}
const INDENT = '    '
const NO_BREAK = '\0'

function withValue(name: string, { value, positional }: Option): string {
  if (positional) return value ?? name
  return value ? `--${name} ${value}` : `--${name}`
}

/** How wide a line of the help may be. */
const terminalWidth = () => process.stdout.columns || Number.POSITIVE_INFINITY

const wrapped = (...sentences: string[]) => sentences.flatMap((sentence) => linesOf(sentence, terminalWidth()))

/** Two columns; on a terminal the second one goes on below itself. */
function aligned(rows: string[][], width = Math.max(0, ...rows.map(([left = '']) => left.length))): string[] {
  const indent = width + 4
  return rows.flatMap(([left = '', right = '']) => {
    const [first = '', ...more] = linesOf(right, Math.max(24, terminalWidth() - indent))
    return [`  ${left.padEnd(width)}  ${first}`, ...more.map((line) => ' '.repeat(indent) + line)]
  })
}

const paragraphs = (...parts: string[][]): string =>
  `${parts
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n')}\n`
