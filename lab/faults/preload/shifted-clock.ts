// A host whose clock is wrong by CLOCK_SHIFT_MS, and from each SIGUSR2 on by what CLOCK_SHIFT_FILE says.
import { readFileSync, writeFileSync } from 'node:fs'

const { CLOCK_SHIFT_MS = '0', CLOCK_SHIFT_FILE = '' } = process.env
const TrueDate = Date
let shift = Number(CLOCK_SHIFT_MS)
const now = () => TrueDate.now() + shift

globalThis.Date = new Proxy(TrueDate, {
  construct: (target, values, newTarget) =>
    Reflect.construct(target, values.length > 0 ? values : [now()], newTarget === globalThis.Date ? target : newTarget),
  apply: () => new TrueDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
})

process.on('SIGUSR2', () => {
  shift = Number(readFileSync(CLOCK_SHIFT_FILE, 'utf8'))
  writeFileSync(`${CLOCK_SHIFT_FILE}.seen`, String(shift))
})
