# The images of Switchyard (docs/installation.md, "As a container"). Two targets:
#   switchyard   the service, with the demo agent
#   agents       the same with bubblewrap, git and other programs that agents use, for workers

# Debian with Node.js 20.19 or newer and npm.
ARG NODE_IMAGE=node:22-bookworm-slim
# "build" builds the service here. "prebuilt" takes what `npm run package` has built in the checkout.
ARG PACKAGE=build

FROM ${NODE_IMAGE} AS build
WORKDIR /src
COPY package.json package-lock.json .npmrc ./
RUN npm ci --ignore-scripts --no-audit --no-fund
COPY . .
RUN npm run generate:prisma && npm run package

FROM scratch AS prebuilt
COPY dist/package/ /src/dist/package/
COPY node_modules/@electric-sql/ /src/node_modules/@electric-sql/

FROM ${PACKAGE} AS package

FROM ${NODE_IMAGE} AS system
# tini is the first process: it passes signals on, and reaps processes that agents leave behind.
RUN apt-get update \
  && apt-get install -y --no-install-recommends tini \
  && rm -rf /var/lib/apt/lists/* /var/log/* /var/cache/* \
  && install -d -o 1000 -g 1000 -m 0750 /data /files \
  && ln -s /opt/switchyard/dist/cli/switchyard.js /usr/local/bin/switchyard
ENV NODE_ENV=production HOST=0.0.0.0 PORT=4000 DATA_DIR=/data SANDBOX=bwrap
WORKDIR /opt/switchyard
USER 1000:1000
VOLUME /data
EXPOSE 4000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=10s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch(`http://127.0.0.1:${process.env.PORT}/readyz`).then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
ENTRYPOINT ["tini", "--", "switchyard"]
LABEL org.opencontainers.image.title="Switchyard" \
  org.opencontainers.image.description="The open, self-hosted agent session service." \
  org.opencontainers.image.licenses="Apache-2.0"

FROM system AS agents-system
USER 0
RUN apt-get update \
  && apt-get install -y --no-install-recommends \
    bubblewrap ca-certificates curl git git-lfs jq openssh-client patch procps python3 ripgrep unzip xz-utils \
  && rm -rf /var/lib/apt/lists/* /var/log/* /var/cache/*
USER 1000:1000
LABEL org.opencontainers.image.title="Switchyard with programs for agents"

FROM agents-system AS agents
COPY --from=package /src/dist/package/ /opt/switchyard/
COPY --from=package /src/node_modules/@electric-sql/ /opt/switchyard/node_modules/@electric-sql/
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.version="${VERSION}" org.opencontainers.image.revision="${REVISION}"

# The last one is the default.
FROM system AS switchyard
COPY --from=package /src/dist/package/ /opt/switchyard/
COPY --from=package /src/node_modules/@electric-sql/ /opt/switchyard/node_modules/@electric-sql/
ARG VERSION=unknown
ARG REVISION=unknown
LABEL org.opencontainers.image.version="${VERSION}" org.opencontainers.image.revision="${REVISION}"
