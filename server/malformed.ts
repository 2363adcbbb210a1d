/** Libraries read a body as the JSON it says it is, and throw; Next would answer with a 500 and print the first characters. */
export function refuseMalformed(error: unknown): Response {
  if (error instanceof SyntaxError) return new Response(null, { status: 400, headers: { 'Cache-Control': 'no-store' } })
  throw error
}
