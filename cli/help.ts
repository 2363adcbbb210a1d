import { version } from '../package.json'
import { COMMON, type Command, commandsOf, findCommand, listOfChoices, type Option } from './command.ts'
import { linesOf } from './show.ts'

/** A packed folder and the image have no npm. */
const startedAs = () =>
  process.env.npm_lifecycle_event === 'account' ? 'npm run -s account --' : 'node dist/account.mjs'

const BATCH = {
  name: 'batch',
  summary: 'Reads one command a line from standard input, quoted as in a shell, and prints one line of JSON for each.',
}

/** The help that `--help` or `-h` among the words, or `help` before them, asks for, or the version that `--version` does; else null. */
export function helpFor(commands: Command[], args: string[]): string | null {
  if (args[0] === '--version') return `${version}\n`
  const isWord = (word: string) => word !== '--help' && word !== '-h'
  const words = args.filter(isWord)
  if (words.length === args.length && words[0] !== 'help') return null
  const [noun = '', verb = ''] = words[0] === 'help' ? words.slice(1) : words
  if (noun === '') return helpForAll(commands)
  if (noun === BATCH.name) return paragraphs([`${startedAs()} ${BATCH.name}`], [BATCH.summary])
  if (verb === '' || verb.startsWith('-')) return helpForNoun(commandsOf(commands, noun))
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
    [`${startedAs()} COMMAND [options]`, `${startedAs()} COMMAND --help explains the options of a command.`],
    ...[...ofNouns.values()].map((ofNoun) =>
      aligned(
        ofNoun.map(({ name, summary }) => [name, summary]),
        width,
      ),
    ),
    aligned([[BATCH.name, BATCH.summary]], width),
    [
      'A command prints a table on a terminal; elsewhere, and with --json, it prints one JSON object.',
      '--only NAME prints one member of that object as plain text.',
      'The pages say deletion, done, nothing kept, stop waiting; commands say withdrawal, completed, purged, waive.',
      '--version prints the version.',
      'A command that is refused prints a sentence, and its exit code is 1; where its words are wrong it is 2.',
    ],
  )
}

const helpForNoun = (commands: Command[]): string =>
  paragraphs(...commands.map((command) => [usageOf(command), `  ${command.summary}`]))

function helpForCommand(command: Command): string {
  // Many lines are JSON already, and have no member of their own.
  const common = command.printsMany ? {} : COMMON
  const options = Object.entries({ ...command.options, ...common }).map(([name, option]) => [
    withValue(name, option),
    [option.means, ...remarksOn(option)].join(' '),
  ])
  return paragraphs([usageOf(command)], [command.summary], aligned(options))
}

function remarksOn(option: Option): string[] {
  const { choices, otherwise, multiple } = option
  return [
    ...(choices ? [`${choices.length > 1 ? 'One of' : 'Only'} ${listOfChoices(option)}.`] : []),
    ...(multiple ? ['It can be repeated.'] : []),
    ...(otherwise === undefined ? [] : [`If it is missing: ${otherwise}.`]),
  ]
}

function usageOf(command: Command): string {
  const { options, oneOf = [] } = command
  const alternatives = oneOf.map((name) => withValue(name, options[name] as Option)).join(' | ')
  const parts = Object.entries(options).flatMap(([name, option]) => {
    if (oneOf.includes(name)) return name === oneOf[0] ? `(${alternatives})` : []
    const text = withValue(name, option)
    const shown = option.multiple ? `${text} …` : text
    return option.required ? shown : `[${shown}]`
  })
  return [startedAs(), command.name, ...parts].join(' ')
}

function withValue(name: string, { value, positional }: Option): string {
  if (positional) return value ?? name
  return value ? `--${name} ${value}` : `--${name}`
}

/** Two columns; on a terminal the second one goes on below itself. */
function aligned(rows: string[][], width = Math.max(0, ...rows.map(([left = '']) => left.length))): string[] {
  const indent = width + 4
  const room = Math.max(24, (process.stdout.columns || Number.POSITIVE_INFINITY) - indent)
  return rows.flatMap(([left = '', right = '']) => {
    const [first = '', ...more] = linesOf(right, room)
    return [`  ${left.padEnd(width)}  ${first}`, ...more.map((line) => ' '.repeat(indent) + line)]
  })
}

const paragraphs = (...parts: string[][]): string =>
  `${parts
    .filter((part) => part.length > 0)
    .map((part) => part.join('\n'))
    .join('\n\n')}\n`
