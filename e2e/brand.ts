import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'

/** A second brand, for the instance with an identity provider. */
export const BRAND = {
  PRODUCT_NAME: 'Acme: Home & Garden',
  PRODUCT_URL: 'https://acme.example.test/',
  SUPPORT_URL: 'https://acme.example.test/help',
  PRIVACY_URL: 'https://acme.example.test/privacy',
  TERMS_URL: 'https://acme.example.test/terms',
  AUTHORITY_NAME: 'Commissioner for Data & Freedom',
  AUTHORITY_URL: 'https://authority.example.test/complain',
  ACCENT_COLOR: '#8a1538',
}

export const LOGO =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="14" fill="#8a1538"/></svg>'

/** Writes a file for LOGO_FILE and returns its path. */
export function writeLogo(): string {
  const directory = path.resolve('.data/e2e-brand')
  mkdirSync(directory, { recursive: true })
  const file = path.join(directory, 'logo.svg')
  writeFileSync(file, LOGO)
  return file
}
