# Debian and not Alpine: the native core of Temporal's SDK is linked against glibc.
FROM node:20.20.2-bookworm-slim AS base
WORKDIR /app

FROM base AS build
COPY package.json package-lock.json ./
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json ./
COPY src ./src
RUN npm run build

# Installed anew and not pruned, so that no developer tool stays behind.
FROM base AS packages
COPY package.json package-lock.json ./
RUN npm ci --omit=dev --no-audit --no-fund

FROM base
# The SDK's core trusts the system's certificates, and the slim image has none: without them there is no TLS to Temporal.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates \
  && rm -rf /var/lib/apt/lists/*
# Without a bound, Node lets garbage grow with the memory of the machine: planning 100,000 partitions came to 900 MB.
ENV NODE_ENV=production TZ=UTC NODE_OPTIONS=--max-old-space-size=512
COPY --from=packages /app/node_modules ./node_modules
COPY --from=build /app/dist ./dist
COPY package.json LICENSE ./
COPY sql ./sql
COPY examples/revenue ./examples/revenue
ENV BACKFILL_CONFIG=/app/examples/revenue/backfill.config.ts
USER node
ENTRYPOINT ["node", "dist/cli/main.js"]
CMD ["worker"]
