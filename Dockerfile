# Two images from one file: `docker build --target controller .` and `--target agent`. BASE needs Node 26; the controller also git, ssh
# for a user without an entry in /etc/passwd (libnss-wrapper), what checks signatures, and the authorities of public git hosts.
# A release names BASE by digest, which only a registry can tell: --build-arg RELEASE=true --build-arg BASE=node:26-trixie-slim@sha256:...
ARG BASE=node:26-trixie-slim
ARG RELEASE=false

FROM ${BASE} AS build
ARG BASE
ARG RELEASE
RUN case "$RELEASE:$BASE" in false:* | true:*@sha256:*) ;; *) echo "a release needs BASE with its digest, not $BASE" >&2; exit 1 ;; esac
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN node scripts/bundle.ts

FROM ${BASE} AS controller
RUN apt-get update && apt-get install --no-install-recommends -y ca-certificates git gpgv libnss-wrapper openssh-client util-linux && rm -rf /var/lib/apt/lists/*
COPY --from=build /src/build/controller.js /src/build/isolate.mjs /app/
USER 65532:65532
# One heap of the C library instead of one for each thread, and what is large goes back to the system at once: some 8 MiB less.
ENV MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072
# While V8 marks in small steps it lets the young generation grow beyond its bound; a pause of some 10 ms costs less.
ENTRYPOINT ["node", "--max-semi-space-size=2", "--no-incremental-marking", "--expose-gc", "/app/controller.js"]

FROM ${BASE} AS agent
COPY --from=build /src/build/agent.js /app/agent.js
USER 2003:2003
# As above.
ENV MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072
ENTRYPOINT ["node", "--max-semi-space-size=1", "--no-incremental-marking", "--heap-growing-percent=30", "/app/agent.js"]
