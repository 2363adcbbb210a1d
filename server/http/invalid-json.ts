/** Libraries throw a SyntaxError where a body is not the JSON that it says it is; Next would answer 500 and print its first characters. */
export const answerInvalidJson =
  (status: number) =>
  (error: unknown): Response => {
    if (!(error instanceof SyntaxError)) throw error
    return new Response(null, { status, headers: { 'Cache-Control': 'no-store' } })
  }
