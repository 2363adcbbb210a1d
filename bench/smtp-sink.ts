import { SMTPServer } from 'smtp-server'

/** Takes every message and forgets it. */
new SMTPServer({
  authOptional: true,
  disabledCommands: ['AUTH', 'STARTTLS'],
  disableReverseLookup: true,
  onData: (stream, _session, done) => stream.resume().on('end', () => done()),
}).listen(Number(process.env.PORT), '127.0.0.1', () => process.stdout.write('Ready\n'))
process.on('SIGTERM', () => process.exit(0))
