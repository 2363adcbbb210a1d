/** Libraries read a body as the JSON it says it is, and throw; Next would answer with a 500 and print the first characters. */
export const refuseMalformed =
  (status: number) =>
  (error: unknown): Response => {
    if (!(error instanceof SyntaxError)) throw error
    return new Response(null, { status, headers: { 'Cache-Control': 'no-store' } })
  }
