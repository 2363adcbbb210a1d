# Build: everything, then what a running service loads (scripts/pack-app.ts). `npm run lab -- image` makes the same image without Docker.
FROM node:24.21.0-bookworm-slim@sha256:2fe369e969550cde8e867afc3fe370b260140cab4a23d467074295b42163d553 AS build
WORKDIR /app
ENV NEXT_TELEMETRY_DISABLED=1
COPY package.json package-lock.json .npmrc ./
COPY lab/package.json lab/
RUN npm ci
COPY . .
RUN npm run build && npm run pack:app -- /out/app && mkdir /out/data

# Run: one process, nobody's account, nothing written but /data. Debian's C++ runtime and certificates are all that Node needs.
FROM gcr.io/distroless/cc-debian12:nonroot@sha256:9dac0a79194e45a7da0158a9c6da57b217585af0786db3845d1f0ec1a0dd182f
COPY --from=build /usr/local/bin/node /usr/local/bin/node
COPY --from=build /out/app /app
COPY --from=build --chown=nonroot:nonroot /out/data /data
WORKDIR /app
ENV NODE_ENV=production APP_ENV=production PORT=3000 DATA_DIR=/data NODE_COMPILE_CACHE=/data/compiled
VOLUME /data
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=3s --start-period=20s \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/api/health/live`).then((r) => process.exit(r.ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT []
CMD ["node", "dist/server.mjs"]
