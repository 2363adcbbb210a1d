// What packages and Node itself may print, on a signal.
const shell = globalThis.console
process.on('SIGUSR2', () => {
  process.emitWarning('an old call of ada@example.test', {
    type: 'DeprecationWarning',
    code: 'DEP9999',
    detail: 'two\nlines',
  })
  shell.error(new Error('two\nlines with ada@example.test'))
  shell.warn('\u001b[33m!\u001b[39m a warning\nof two lines for %s', 'ada@example.test')
  Promise.reject(new Error('nobody waits for ada@example.test'))
  setTimeout(() => {
    throw new Error('nobody catches ada@example.test')
  })
})
