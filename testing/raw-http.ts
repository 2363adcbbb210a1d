import { connect } from 'node:net'

/** Sends a request head that no client library would send. Returns status line, headers and body when the server closes the connection. */
export const sendHead = (port: number, head: string, address = '127.0.0.1'): Promise<string> =>
  new Promise((resolve, reject) => {
    let answer = ''
    const socket = connect(port, address, () => socket.write(`${head}\r\n\r\n`))
    socket.on('data', (chunk) => {
      answer += chunk
    })
    socket.on('close', () => resolve(answer)).on('error', reject)
    socket.setTimeout(60_000, () => socket.destroy(new Error('no answer')))
  })
