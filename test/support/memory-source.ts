/**
 * A `Source` with commits as plain objects, for engine tests that need no git; and the desired state of a cycle.
 */
import { createHash } from 'node:crypto'
import type { BlobId, BlobSink, Change, Source } from '../../runtime/content/protocol/protocol.ts'
import { Fault } from '../../runtime/platform/fault.ts'
import type { ResolvedProfile } from '../../runtime/api/schema/profile.ts'
import { type CommitHash, parseCommitHash, parseRelativePath } from '../../runtime/api/values.ts'
import type { SyncTarget } from '../../runtime/sync/cycle.ts'

/** Content by path; a path that ends with `!` is executable. */
export type Tree = Readonly<Record<string, string>>

export type MemorySource = Source & {
  /** Adds a tree and returns the hash of its commit; equal trees have equal hashes. */
  commit(tree: Tree): CommitHash
  /** Forgets a commit, like a host after a force push. */
  forget(commit: CommitHash): void
}

export function memorySource(): MemorySource {
  const commits = new Map<CommitHash, Tree>()
  const contents = new Map<BlobId, string>()
  const treeOf = (commit: CommitHash): Tree => {
    const tree = commits.get(commit)
    if (tree === undefined) throw new Fault('CommitGone', `there is no commit ${commit}`)
    return tree
  }
  const put = (path: string, content: string): Change => ({
    op: 'put',
    path: parseRelativePath(path.replace(/!$/, '')),
    mode: path.endsWith('!') ? '100755' : '100644',
    id: blobId(content),
    size: Buffer.byteLength(content),
  })
  return {
    commit(tree) {
      const hash = parseCommitHash(
        createHash('sha1')
          .update(JSON.stringify(Object.entries(tree).toSorted(([a], [b]) => (a < b ? -1 : 1))))
          .digest('hex'),
      )
      commits.set(hash, tree)
      for (const content of Object.values(tree)) contents.set(blobId(content), content)
      return hash
    },
    forget: (commit) => void commits.delete(commit),
    async *changes({ commit, from }) {
      const tree = treeOf(commit)
      const entries = Object.entries(tree)
      if (from === null) {
        yield entries.map(([path, content]) => put(path, content))
        return
      }
      const before = commits.get(from)
      if (before === undefined) throw new Fault('UnknownBase', `there is no commit ${from}`)
      const name = (path: string): string => path.replace(/!$/, '')
      const names = new Set(Object.keys(tree).map(name))
      const deleted = Object.keys(before).filter((path) => !names.has(name(path)))
      const changed = entries.filter(([path, content]) => before[path] !== content)
      yield [
        ...deleted.map((path): Change => ({ op: 'delete', path: parseRelativePath(name(path)) })),
        ...changed.map(([path, content]) => put(path, content)),
      ]
    },
    async blobs({ ids }, sink) {
      for (const id of new Set(ids)) {
        const content = Buffer.from(contents.get(id) ?? '')
        sink.begin(id, content.length)
        give(content, sink)
      }
    },
    async files({ commit }, sink) {
      for (const [path, content] of Object.entries(treeOf(commit))) {
        const file = put(path, content)
        if (file.op === 'put') sink.begin(file)
        give(Buffer.from(content), sink)
      }
    },
  }
}

function give(content: Buffer, sink: Pick<BlobSink, 'data' | 'end'>): void {
  for (let at = 0; at < content.length; at += 1000) sink.data(content.subarray(at, at + 1000))
  sink.end()
}

function blobId(content: string): BlobId {
  return parseCommitHash(
    createHash('sha1')
      .update(`blob ${Buffer.byteLength(content)}\0${content}`)
      .digest('hex'),
  )
}

const profileDefaults: ResolvedProfile = {
  name: 'default',
  collections: undefined,
  mappings: [],
  excludePatterns: [],
  vars: {},
  syncPeriod: '30s',
  designerSessionPolicy: 'Proceed',
  dryRun: false,
  paused: false,
  drift: 'Report',
  prune: 'Owned',
  maxDeletions: '100%',
  startPolicy: 'Block',
  startDeadline: '10m',
  startGrace: '30s',
}

type MappingInput = Partial<ResolvedProfile['mappings'][number]> & { source: string; destination: string }

/** A profile with these mappings and every other setting at its default unless given. */
export function profileOf(mappings: readonly MappingInput[], more: Partial<ResolvedProfile> = {}): ResolvedProfile {
  const full = mappings.map((mapping) => ({ type: 'Directory' as const, required: true, template: false, ...mapping }))
  return { ...profileDefaults, mappings: full, ...more }
}

export function desiredOf(dataDir: string, commit: CommitHash, profile: ResolvedProfile, more: Partial<SyncTarget> = {}): SyncTarget {
  return {
    commit,
    ref: 'main',
    profile,
    syncHash: createHash('sha256').update(JSON.stringify(profile)).digest('hex'),
    dataDir,
    paused: false,
    validation: { policy: 'Enforce', rules: {} },
    facts: { gatewayName: 'gw', podName: 'gw-0', ordinal: 0, podLabels: {}, namespace: 'plant', mode: { name: '', from: 'None' } },
    ...more,
  }
}
