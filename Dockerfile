# Three images from one file. `npm run images` bundles the programs, makes the folder that is copied from, and builds them.
# BASE needs Node 22.18 or newer; the controller and the command line also git, ssh for a user without an entry in /etc/passwd (libnss-wrapper), what checks
# signatures, and the authorities of public git hosts: where BASE has them all, nothing is downloaded.
# A release names BASE by digest, which only a registry can tell: npm run images -- --release --base node:26-trixie-slim@sha256:...
ARG BASE=node:26-trixie-slim
ARG RELEASE=false

FROM ${BASE} AS base
ARG BASE
ARG RELEASE
RUN case "$RELEASE:$BASE" in false:* | true:*@sha256:*) ;; *) echo "a release needs BASE with its digest, not $BASE" >&2; exit 1 ;; esac

FROM base AS with-git
# What is named with a time or a machine goes, so that two builds give one digest.
RUN set -eu; missing=; \
  for program in git gpgv ssh ssh-add ssh-agent ssh-keygen; do command -v "$program" >/dev/null || missing="$missing $program"; done; \
  ls /usr/lib/*/libnss_wrapper.so /etc/ssl/certs/ca-certificates.crt >/dev/null 2>&1 || missing="$missing libraries"; \
  if [ -n "$missing" ]; then \
    apt-get update; \
    apt-get install --no-install-recommends -y ca-certificates git gpgv libnss-wrapper openssh-client; \
    rm -rf /var/lib/apt/lists/* /var/cache/apt /var/cache/debconf /var/cache/ldconfig /var/log/*; \
  fi

FROM with-git AS controller
COPY controller/app/ /app/
USER 65532:65532
# One heap of the C library instead of one for each thread is 5 to 8 MiB less (docs/development/benchmarks.md has the measurements). What is more than a
# page or two goes back to the system at once, such as the memory in which code is compiled.
ENV MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=8192
# While V8 marks in small steps it lets the young generation grow beyond its bound; a pause of some 10 ms costs less. A small young
# generation, and an old one that grows by little, are 10 MiB less at a thousand GatewaySyncs. While large commits are checked, code that is
# compiled for size was 4 to 5 MiB less; the want of two of V8's four compilers, bytecode that is dropped when two collections found it unused,
# and what goes back at once as said above are another 4 MiB, all of them together.
ENTRYPOINT ["node", "--optimize-for-size", "--no-sparkplug", "--no-turbofan", "--bytecode-old-age=2", "--max-semi-space-size=1", "--no-incremental-marking", "--heap-growing-percent=30", "--expose-gc", "/app/controller.js"]

FROM base AS agent
COPY agent/app/ /app/
USER 2003:2003
# One heap of the C library, and what is large goes back to the system at once. The old generation grows by more than the controller's: a
# first sync meets one long collection fewer. V8's last compiler begins with what runs for ever, such as looking for drift, and not with a
# first sync, which ends before it pays.
ENV MALLOC_ARENA_MAX=1 MALLOC_MMAP_THRESHOLD_=131072
ENTRYPOINT ["node", "--max-semi-space-size=1", "--no-incremental-marking", "--heap-growing-percent=60", "--invocation-count-for-turbofan=100000", "/app/agent.js"]

# The command line, for pipelines and for a machine that runs its programs as containers.
FROM with-git AS cli
COPY cli/app/ /app/
COPY cli/bin/ /usr/local/bin/
# What `run` keeps, where no volume is mounted or a new one begins with what the image has; nobody else may write to it.
COPY --chown=2003:2003 cli/lib/ /var/lib/
ENV STATE_DIRECTORY=/var/lib/cluster-sync
# The user of the gateway's own image, whose data directory `run` writes to. Everything but `run` works as any other user too.
USER 2003:2003
WORKDIR /work
ENTRYPOINT ["/usr/local/bin/cluster-sync"]
