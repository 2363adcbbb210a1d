/** @type {import('next').NextConfig} */
export default {
  poweredByHeader: false,
  // No page has images that Next would have to resize; without this anybody could make it do so at /_next/image.
  images: { unoptimized: true },
  // Else Next loads every route at the start and keeps 30 MiB of code, most of it of API routes, which never reach Next.
  experimental: { preloadEntriesOnStart: false },
  // Every browser gets the title in the head. Next would send it behind the page, which has no title until then.
  htmlLimitedBots: /.*/,
  // Texts are compiled before they are sent, so that no page loads a parser for them.
  turbopack: { resolveAlias: { 'use-intl/format-message': 'use-intl/format-message/format-only' } },
  // `npm test` checks the types of all files; the build would do it again, for a fifth of its time.
  typescript: { ignoreBuildErrors: true },
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
