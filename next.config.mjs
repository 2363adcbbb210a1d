/** @type {import('next').NextConfig} */
export default {
  poweredByHeader: false,
  // For the API a path with a trailing slash does not exist; a redirect would say otherwise.
  skipTrailingSlashRedirect: true,
  serverExternalPackages: ['@node-rs/argon2', 'pg', 'pino', 'nodemailer'],
}
