// A host whose clock is wrong by CLOCK_SHIFT_MS.
const shift = Number(process.env.CLOCK_SHIFT_MS)
const TrueDate = Date
const now = () => TrueDate.now() + shift

globalThis.Date = new Proxy(TrueDate, {
  construct: (target, values, asked) =>
    Reflect.construct(target, values.length > 0 ? values : [now()], asked === globalThis.Date ? target : asked),
  apply: () => new TrueDate(now()).toString(),
  get: (target, name) => (name === 'now' ? now : target[name]),
})
