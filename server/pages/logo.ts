import { getEnv } from '../env'

/** The picture of LOGO_FILE. */
export function serveLogo(): Response {
  const { logo } = getEnv().brand
  if (!logo) return new Response(null, { status: 404 })
  return new Response(new Uint8Array(logo.bytes), {
    headers: { 'Content-Type': logo.type, 'Cache-Control': 'public, max-age=3600' },
  })
}
