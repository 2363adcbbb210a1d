import type { Logo } from '../settings/brand-settings'
import { getEnv } from '../settings/env'

export function serveLogo(): Response {
  const { logo } = getEnv().brand
  return logo ? picture(logo) : new Response(null, { status: 404 })
}

const OWN_ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><title>Account</title>
  <rect width="32" height="32" rx="9" fill="#1b1d24"/>
  <circle cx="16" cy="12.25" r="4.25" fill="none" stroke="#fff" stroke-width="2.25"/>
  <path d="M7.75 24.5c1.4-3.9 4.5-6 8.25-6 1.6 0 3.1.4 4.4 1.1" fill="none" stroke="#fff" stroke-width="2.25" stroke-linecap="round"/>
  <path d="m19.75 23.75 2.4 2.4 4.35-4.9" fill="none" stroke="#8fb4ff" stroke-width="2.25" stroke-linecap="round" stroke-linejoin="round"/>
</svg>`

/** The icon of the browser's tab: the picture of LOGO_FILE, else our own. */
export const serveIcon = (): Response =>
  picture(getEnv().brand.logo ?? { type: 'image/svg+xml', bytes: Buffer.from(OWN_ICON) })

const picture = ({ type, bytes }: Logo) =>
  new Response(new Uint8Array(bytes), { headers: { 'Content-Type': type, 'Cache-Control': 'public, max-age=3600' } })
