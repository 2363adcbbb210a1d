/** Greets the server and signs in, on a connection of its own; rejects where that fails. */
export async function checkMailServer(url: string, maxWaitMs: number): Promise<void> {
  const waits = { connectionTimeout: maxWaitMs, greetingTimeout: maxWaitMs, socketTimeout: maxWaitMs }
  const { createTransport } = await import('nodemailer')
  await createTransport({ url, ...waits }).verify()
}
