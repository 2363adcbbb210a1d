import path from 'node:path'

/** An instance with the default settings. */
export const SERVICE_URL = 'http://localhost:4310'
/** Codes live six seconds, a resend waits three, and the seven days of a withdrawal pass in twelve seconds. */
export const IMPATIENT_URL = 'http://localhost:4311'
export const DATA_DIR = path.resolve('.data/e2e')
/** The instance with the demo provider, which listens on the next port. */
export const DEMO_URL = 'http://localhost:4312'
/** The credentials of the mail provider that reports bounces to it. */
export const BOUNCE_SECRET = 'provider:secret-of-the-provider'
/** The setting RETURN_TO of that instance. */
export const RETURN_TO = ['https://shop.example.test', 'myshop:']
export const DEMO_PROVIDER_URL = 'http://localhost:4313'
/** The instance that the examples of docs/adopting.md start, with the demo provider on the next port. */
export const ADOPTING_URL = 'http://localhost:4314'
export const ISSUER_PORT = '4316'
/** The port of the adopter's page in docs/own-pages.md. */
export const PAGE_PORT = '4318'
/** The instance that README.md starts. */
export const README_URL = 'http://localhost:4317'
/** `npm run demo`: the service, and the shop beside it. */
export const SHOP_SERVICE_URL = 'http://localhost:4320'
export const SHOP_URL = 'http://localhost:4321'
