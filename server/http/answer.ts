/** A JSON answer that no cache may store. */
export const answer = (status: number, body: object): Response =>
  Response.json(body, { status, headers: { 'Cache-Control': 'no-store' } })
