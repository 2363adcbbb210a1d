/** JSON that nobody on the way may keep. */
export const answer = (status: number, body: object): Response =>
  Response.json(body, { status, headers: { 'Cache-Control': 'no-store' } })
