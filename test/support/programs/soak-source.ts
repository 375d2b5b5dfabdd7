/**
 * `soak-source.ts <what follows>`: GatewaySyncs that follow refs of private repositories as in a controller, for a soak that kills it, its
 * git processes and its host. Each line on stdin is the number of a GatewaySync that gets a push. Prints a line of JSON several times a
 * second.
 */
import { readdirSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { requireRepository } from '../../../runtime/git/remote/remote.ts'
import { startFollowers } from '../followers.ts'

export type SoakedSource = { folder: string; refs: { repo: string; ref: string }[]; token: string; caBundle: string }

/** `published`: changes since the previous line, by the number of the GatewaySync. */
export type SourceLine = {
  published: Record<number, string>
  reasons: string[]
  descriptors: number
  rssMiB: number
}

const tellEveryMs = 300

const { folder, refs, token, caBundle } = JSON.parse(process.argv[2] ?? '') as SoakedSource
const followed = startFollowers({
  folder,
  spec: (index) => ({
    git: refs[index] ?? { repo: '', ref: '' },
    polling: { interval: '60s' },
    sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
  }),
  count: refs.length,
  remoteOf: async (_namespace, { repo }) => ({
    url: requireRepository(repo, { allowLocal: false }),
    access: { texts: [], identity: 'soak', credentials: { kind: 'basic', username: 'soak', password: token }, caBundle, proxy: undefined },
  }),
})
createInterface({ input: process.stdin })
  .on('line', (line) => followed.request(Number(line)))
  .on('close', () => process.exit(0))

const told = new Map<number, string>()
for (;;) {
  const published: Record<number, string> = {}
  const reasons = new Set<string>()
  for (const index of refs.keys()) {
    const { published: { commit = '' } = {}, conditions = [] } = followed.status(index)
    if (commit !== (told.get(index) ?? '')) published[index] = commit
    told.set(index, commit)
    const source = conditions.find(({ type }) => type === 'SourceReady')
    if (source?.status === 'False') reasons.add(source.reason)
  }
  const line: SourceLine = {
    published,
    reasons: [...reasons],
    descriptors: readdirSync('/proc/self/fd').length,
    rssMiB: process.memoryUsage.rss() / 1024 / 1024,
  }
  process.stdout.write(`${JSON.stringify(line)}\n`)
  await systemClock.wait(tellEveryMs)
}
