/**
 * A mirror as a `Source`: differences and contents of commits, below the folders that a profile reads and nowhere else.
 */
import type { BlobSink, Change, FileMode, Source } from '../delivery/protocol.ts'
import { Fault } from '../fault.ts'
import { type CommitHash, isWithin, type RelativePath } from '../gatewaysync/values.ts'
import { readBlobs } from './blobs.ts'
import { type GitLimits, runGit } from './git.ts'
import { listCommit, records } from './listing.ts'

export type MirrorSourceDeps = {
  folder: string
  limits: GitLimits
  has(commit: CommitHash, signal: AbortSignal): Promise<boolean>
  ensure(commit: CommitHash, signal: AbortSignal): Promise<void>
  /** The folders of a profile; undefined: there is no such profile. */
  roots(profile: string): readonly RelativePath[] | undefined
}

const timeoutMs = 120_000
/** diff-tree queues everything first, so its memory is the bound (git.md section 2). */
const batchSize = 10_000

export function mirrorSource(deps: MirrorSourceDeps): Source {
  const offered = rememberOffers()
  const rootsOf = (profile: string): readonly RelativePath[] => {
    const roots = deps.roots(profile)
    if (roots === undefined) throw new Fault('UnknownProfile', `there is no profile "${profile}"`)
    return roots
  }
  return {
    async *changes({ commit, from, profile }, signal) {
      const roots = rootsOf(profile)
      await deps.ensure(commit, signal)
      if (from === null) yield* everything(deps, commit, roots, signal)
      else if (from !== commit) {
        if (!(await deps.has(from, signal))) throw new Fault('UnknownBase', `commit ${from} is not in the mirror; ask for everything`)
        for await (const batch of differences(deps, from, commit, roots, signal)) {
          offered.add(commit, profile, batch)
          yield batch
        }
      }
    },
    async blobs({ commit, profile, ids }, sink: BlobSink, signal) {
      const roots = rootsOf(profile)
      await deps.ensure(commit, signal)
      const wanted = [...new Set(ids)]
      if (wanted.length === 0) return
      if (!offered.covers(commit, profile, wanted)) await requireReachable(deps, commit, roots, wanted, signal)
      await readBlobs(deps, wanted, sink, signal)
    },
  }
}

/** Differences that are remembered: of so many commits, so many blobs each. */
const rememberedCommits = 20
const rememberedBlobs = 2_000

/** What a difference told of may be read without looking for it again; after a small push that look would be most of the time. */
function rememberOffers() {
  const offers = new Map<string, Set<CommitHash>>()
  return {
    add(commit: CommitHash, profile: string, batch: readonly Change[]): void {
      const key = `${commit} ${profile}`
      const ids = offers.get(key) ?? new Set<CommitHash>()
      for (const change of batch) if (change.op === 'put' && change.mode !== '160000' && ids.size < rememberedBlobs) ids.add(change.id)
      offers.delete(key)
      offers.set(key, ids)
      const [oldest] = offers.keys()
      if (offers.size > rememberedCommits && oldest !== undefined) offers.delete(oldest)
    },
    covers(commit: CommitHash, profile: string, ids: readonly CommitHash[]): boolean {
      const known = offers.get(`${commit} ${profile}`)
      return known !== undefined && ids.every((id) => known.has(id))
    },
  }
}

async function* everything(deps: MirrorSourceDeps, commit: CommitHash, roots: readonly RelativePath[], signal: AbortSignal) {
  for await (const batch of listCommit(deps, commit, roots, signal)) {
    // ls-tree takes a path as a prefix: `a` would also list `ab`.
    const changes = batch.filter(({ path }) => roots.some((root) => isWithin(path, root))).map((file): Change => ({ op: 'put', ...file }))
    if (changes.length > 0) yield changes
  }
}

type Raw = { status: string; mode: string; id: CommitHash; path: RelativePath }

async function* differences(
  deps: MirrorSourceDeps,
  from: CommitHash,
  commit: CommitHash,
  roots: readonly RelativePath[],
  signal: AbortSignal,
) {
  // Without a path diff-tree would tell of the whole repository.
  if (roots.length === 0) return
  const paths = roots.includes('' as RelativePath) ? [] : ['--', ...roots.map((root) => `:(literal)${root}`)]
  const args = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev', from, commit, ...paths]
  let batch: Raw[] = []
  for await (const change of rawChanges(deps, args, signal)) {
    batch.push(change)
    if (batch.length < batchSize) continue
    yield await withSizes(deps, batch, signal)
    batch = []
  }
  if (batch.length > 0) yield await withSizes(deps, batch, signal)
}

/** `:<old mode> <mode> <old id> <id> <status>` and the path, in turn. */
async function* rawChanges(deps: MirrorSourceDeps, args: readonly string[], signal: AbortSignal): AsyncGenerator<Raw> {
  let head: string[] | undefined
  for await (const record of records(deps, { folder: deps.folder, args, timeoutMs }, signal)) {
    if (head === undefined) {
      head = record.slice(1).split(' ')
      continue
    }
    const [, mode = '', , id = '', status = ''] = head
    head = undefined
    yield { status, mode, id: id as CommitHash, path: record as RelativePath }
  }
}

async function withSizes(deps: MirrorSourceDeps, batch: readonly Raw[], signal: AbortSignal): Promise<Change[]> {
  const present = batch.filter(({ status, mode }) => status !== 'D' && mode !== '160000')
  const sizes = await sizesOf(
    deps,
    present.map(({ id }) => id),
    signal,
  )
  return batch.map(({ status, mode, id, path }): Change => {
    if (status === 'D') return { op: 'delete', path }
    return { op: 'put', path, mode: mode as FileMode, id, size: sizes.get(id) ?? 0 }
  })
}

async function sizesOf(
  { folder, limits }: MirrorSourceDeps,
  ids: readonly CommitHash[],
  signal: AbortSignal,
): Promise<Map<CommitHash, number>> {
  if (ids.length === 0) return new Map()
  const args = ['cat-file', '--batch-check=%(objectname) %(objectsize)', '--buffer']
  const output = await runGit({ folder, args, input: `${ids.join('\n')}\n`, timeoutMs }, { limits, signal })
  return new Map(
    output
      .toString('latin1')
      .split('\n')
      .filter(Boolean)
      .map((line) => {
        const [id = '', size = '0'] = line.split(' ')
        return [id as CommitHash, Number(size)] as const
      }),
  )
}

/** A caller may read what its commit holds below its profile's folders, and nothing else of the mirror. */
async function requireReachable(
  deps: MirrorSourceDeps,
  commit: CommitHash,
  roots: readonly RelativePath[],
  ids: readonly CommitHash[],
  signal: AbortSignal,
): Promise<void> {
  const missing = new Set(ids)
  for await (const batch of listCommit(deps, commit, roots, signal, false)) {
    for (const { path, mode, id } of batch) if (mode !== '160000' && roots.some((root) => isWithin(path, root))) missing.delete(id)
    if (missing.size === 0) return
  }
  const [first = ''] = missing
  throw new Fault('CommitNotPublished', `commit ${commit} holds no blob ${first} below the folders of this profile`)
}
