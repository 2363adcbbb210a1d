/** @type {import('next').NextConfig} */
export default {
  poweredByHeader: false,
  // For the API a path with a trailing slash does not exist; a redirect would say otherwise.
  skipTrailingSlashRedirect: true,
  serverExternalPackages: [
    '@opentelemetry/exporter-trace-otlp-http',
    '@opentelemetry/resources',
    '@opentelemetry/sdk-trace',
    'nodemailer',
    'pg',
    'pino',
    'prom-client',
  ],
}
