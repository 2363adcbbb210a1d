/** Connects to the mail server and signs in; rejects when that fails. */
export async function checkMailServer(url: string, requireTLS: boolean, maxWaitMs: number): Promise<void> {
  const waits = { connectionTimeout: maxWaitMs, greetingTimeout: maxWaitMs, socketTimeout: maxWaitMs }
  const { createTransport } = await import('nodemailer')
  await createTransport({ url, requireTLS, ...waits } as Parameters<typeof createTransport>[0]).verify()
}
