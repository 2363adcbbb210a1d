/** Libraries throw a SyntaxError when a body is declared as JSON and is not. Next would answer 500 and log the body's first characters. */
export const answerInvalidJson =
  (status: number) =>
  (error: unknown): Response => {
    if (!(error instanceof SyntaxError)) throw error
    return new Response(null, { status, headers: { 'Cache-Control': 'no-store' } })
  }
