// From SIGUSR2 on the process keeps whatever it makes, until its memory is used up.
process.on('SIGUSR2', () => {
  const kept = []
  for (;;) kept.push(new Array(10_000).fill(kept.length))
})
