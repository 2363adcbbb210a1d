// From SIGUSR2 on the process keeps whatever it makes, until its memory is used up.
process.on('SIGUSR2', () => {
  const kept = []
  const leak = () => {
    for (let count = 0; count < 1_000; count++) kept.push(Array.from({ length: 100 }, () => ({ count })))
    setImmediate(leak)
  }
  leak()
})
