/**
 * Tests an apply in which any effect fails, is cut at any byte, or is the last one before a kill. After recovery, folder and manifest are
 * both at the old commit or both at the new one. If staged content or the manifest is lost before recovery, the outcome may also be
 * suspect. The effects of the protocol run on a model of the disk.
 */
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { decodeJournal } from '../../../support/decode-journal.ts'
import { parseCommitHash, parseRelativePath } from '../../../../runtime/api/values.ts'
import type { ManifestChange, State } from '../../../../runtime/sync/model/manifest.ts'
import { changeLines, encodeHead, encodeState, manifestReader } from '../../../../runtime/sync/model/manifest-lines.ts'
import { createObservations, type Observed } from '../../../../runtime/sync/plan/observed.ts'
import { plan } from '../../../../runtime/sync/plan/plan.ts'
import { encodeJournal, type Journal } from '../../../../runtime/sync/apply/journal.ts'
import { applySteps, resumeSteps } from '../../../../runtime/sync/apply/apply-order.ts'
import { layOut } from '../../../../runtime/sync/apply/steps.ts'
import { noAliases } from '../../../../runtime/sync/plan/path-collisions.ts'

/** Content by path, one digit each. */
type Tree = Readonly<Record<string, string>>

const run = '.cluster-sync/run-0'
const applyIds = ['older', 'old', 'new'] as const
const stateOf = (apply: (typeof applyIds)[number]): State => ({
  commit: parseCommitHash({ older: 'c', old: 'a', new: 'b' }[apply].repeat(40)),
  ref: 'main',
  syncHash: 'h',
  treeKey: 't',
  mappings: ['projects -> projects'],
  chain: [],
  absent: [],
  publish: apply,
  bootId: 'boot',
  scanPending: [],
  scanned: {},
  commissioning: false,
  publishedAt: 0,
  findings: [],
  problems: [],
})
const stat = { size: 1, mtimeMs: 2, ino: 3, mode: 0o644 }
const idOf = (content: string) => parseCommitHash(content.repeat(40))
const ownedAs = (content: string) => ({ id: idOf(content), exec: false, mapping: 0, stat, rendered: undefined, driftVerdict: undefined })

const isBelow = (path: string, folder: string): boolean => path.startsWith(`${folder}/`)
/** Files only: a folder exists while it contains a file. */
const tree: fc.Arbitrary<Tree> = fc
  .dictionary(
    fc.array(fc.constantFrom('a', 'b', 'c'), { minLength: 1, maxLength: 3 }).map((names) => `projects/${names.join('/')}`),
    fc.constantFrom('1', '2'),
    { minKeys: 1, maxKeys: 8 },
  )
  .map((files) => Object.fromEntries(Object.entries(files).filter(([path]) => !Object.keys(files).some((other) => isBelow(other, path)))))

function observe(files: Tree, path: string): Observed {
  const names = path.split('/')
  const above = names.map((_, index) => names.slice(0, index + 1).join('/'))
  const isObstacle = above.find((folder) => folder !== path && folder in files)
  if (isObstacle !== undefined) return { kind: 'under-file', file: isObstacle }
  if (path in files) return { kind: 'file', stat, exec: false, id: idOf(files[path] ?? '') }
  const below = Object.keys(files).filter((file) => isBelow(file, path))
  if (below.length > 0) return { kind: 'folder', files: below }
  const topmost = above.find((folder) => !Object.keys(files).some((file) => isBelow(file, folder)))
  return { kind: 'absent', topmost: topmost ?? path }
}

function journalOf(before: Tree, after: Tree): Journal & { staged: Map<string, string> } {
  const changed = Object.entries(after).filter(([path, content]) => before[path] !== content)
  const gone = Object.keys(before).filter((path) => !(path in after))
  const observed = createObservations()
  for (const path of [...changed.map(([path]) => path), ...gone]) observed.set(path, observe(before, path))
  const made = plan({
    rootBytes: 4,
    puts: new Map(
      changed.map(([path, content]) => [path, { path: parseRelativePath(path), id: idOf(content), exec: false, mapping: 0, size: 1 }]),
    ),
    removed: new Map(gone.map((path) => [path, 'Owned'])),
    foreign: [],
    owned: new Map(Object.entries(before).map(([path, content]) => [path, ownedAs(content)])),
    observed,
    aliases: noAliases,
    repairing: new Set(),
    withheld: new Set(),
    prunesAll: () => false,
    isRendered: () => false,
    maxDeletions: '100%',
    commit: stateOf('new').commit ?? idOf('b'),
    confirmedDeletions: stateOf('new').commit ?? idOf('b'),
    mode: undefined,
  })
  if (made.problems.length > 0) throw new Error(made.problems[0]?.message)
  const layout = layOut(made)
  const changes: ManifestChange[] = [
    ...gone.map((path): ManifestChange => ({ path, owned: undefined })),
    ...made.puts.map(({ path }): ManifestChange => ({ path, owned: ownedAs(after[path] ?? '') })),
  ]
  const staged = new Map(made.puts.map(({ path }, index) => [`${run}/${layout.placeOf(index)}`, after[path] ?? '']))
  return { run: 'run-0', bootId: 'boot', base: 'old', steps: layout.steps, emptied: layout.emptied, changes, state: stateOf('new'), staged }
}

/**
 * A failure at the effect with the given number, or also at all later ones (`onward`). `part` is the share of the effect that completes
 * anyway.
 */
type Failure = { at: number; kills: boolean; onward: boolean; part: number }
const failure: fc.Arbitrary<Failure> = fc.record({
  at: fc.noBias(fc.nat(14)),
  kills: fc.boolean(),
  onward: fc.boolean(),
  part: fc.noBias(fc.nat(100)).map((percent) => percent / 100),
})

/**
 * Damage by a restored backup, a faulty disk or a user between the end of a process and the next start. `at` selects one of the staged and
 * kept files; `older` replaces the manifest with that of an earlier commit.
 */
type Loss = { kind: 'none' | 'run' | 'file' | 'content' | 'older'; at: number }
const loss: fc.Arbitrary<Loss> = fc.record({
  kind: fc.constantFrom('none', 'none', 'none', 'run', 'file', 'content', 'older'),
  at: fc.nat(20),
})

class Killed extends Error {}

/** The disk of one data directory, used by a process that may be killed. */
class Disk {
  files: Map<string, string>
  manifest: Buffer
  journal: Buffer | undefined
  /** An in-place write that was cut may leave a damaged line. */
  hasTornHead = false
  hasLost = false
  private effects = 0
  private failures: readonly Failure[] = []
  private isKilled = false

  constructor(before: Tree) {
    this.files = new Map(Object.entries(before))
    this.manifest = manifestOf(before, 'old')
  }

  lose({ kind, at }: Loss): void {
    // Without a journal the run folder is not needed, and an earlier manifest is outside the scope of the protocol.
    if (kind === 'none' || this.journal === undefined) return
    const all = [...this.files.keys()].filter((file) => isBelow(file, run) && (kind === 'run' || !file.endsWith('/here')))
    const file = all[at % all.length]
    if (kind === 'older') this.manifest = manifestOf({ 'projects/z': '1' }, 'older')
    else if (kind === 'run') for (const each of all) this.files.delete(each)
    else if (file === undefined) return
    else if (kind === 'file') this.files.delete(file)
    else this.files.set(file, '3')
    this.hasLost = true
  }

  start(failures: readonly Failure[]): void {
    this.isKilled = false
    this.failures = failures
    this.effects = 0
  }

  /** `work` performs the given part of an effect. An indivisible effect happens if the part exceeds one half. */
  private effect(work: (part: number) => void): void {
    if (this.isKilled) throw new Killed()
    this.effects += 1
    const met = this.failures.find(({ at, onward }) => (onward ? this.effects > at : this.effects === at + 1))
    work(met === undefined ? 1 : met.part)
    if (met === undefined) return
    this.isKilled = met.kills
    throw met.kills ? new Killed() : Object.assign(new Error('input/output error'), { code: 'EIO' })
  }

  private atomic(work: () => void): void {
    this.effect((part) => {
      if (part > 0.5) work()
    })
  }

  private exists(entry: string): boolean {
    return this.files.keys().some((file) => file === entry || isBelow(file, entry))
  }

  /** `changes` are those that the process which started the apply has in memory. */
  effectsOn({ steps, changes, state }: Pick<Journal, 'steps' | 'changes' | 'state'>, whole: boolean) {
    return {
      run,
      exists: (entry: string) => this.exists(entry),
      rename: (from: string, to: string) =>
        this.atomic(() => {
          if (!this.exists(from)) throw Object.assign(new Error(`${from} is missing`), { code: 'ENOENT' })
          const moved = [...this.files].filter(([file]) => file === from || isBelow(file, from))
          if (this.files.keys().some((file) => isBelow(file, to)) || (this.files.has(to) && !this.files.has(from)))
            throw Object.assign(new Error(`${to} is in the way of ${from}`), { code: 'ENOTEMPTY' })
          for (const [file] of moved) this.files.delete(file)
          for (const [file, content] of moved) this.files.set(`${to}${file.slice(from.length)}`, content)
        }),
      link: (file: string, name: string) => {
        const content = this.files.get(file)
        if (content === undefined) return 'missing' as const
        this.atomic(() => this.files.set(name, content))
        return 'linked' as const
      },
      remove: (file: string) => this.atomic(() => this.files.delete(file)),
      beat: () => undefined,
      writeJournal: () =>
        this.atomic(
          () =>
            (this.journal = Buffer.concat([
              ...encodeJournal({ run: 'run-0', bootId: 'boot', base: 'old', steps, emptied: [], changes, state }),
            ])),
        ),
      record: () => (whole ? this.rewrite(changes, state) : this.append(changes, state)),
      removeEmptied: () => this.atomic(() => undefined),
      dropJournal: () => this.atomic(() => (this.journal = undefined)),
      removeRun: async () => {
        try {
          this.effect((part) => {
            const all = [...this.files.keys()].filter((file) => isBelow(file, run))
            for (const file of all.slice(0, Math.ceil(part * all.length))) this.files.delete(file)
          })
        } catch (error) {
          if (error instanceof Killed) throw error
        }
      },
    }
  }

  private append(changes: Iterable<ManifestChange>, state: State): void {
    const { bytes } = this.read()
    const text = Buffer.from([...changeLines(changes), encodeState(state)].join(''))
    this.effect((part) => {
      this.manifest = Buffer.concat([this.manifest.subarray(0, bytes), text.subarray(0, Math.round(part * text.length))])
    })
    // Syncing to disk may fail even if everything was written.
    this.effect(() => undefined)
    this.writeHead()
  }

  private rewrite(changes: Iterable<ManifestChange>, state: State): void {
    const { files } = this.read()
    for (const { path, owned } of changes) {
      if (owned === undefined) files.delete(path)
      else files.set(path, owned)
    }
    const lines = changeLines([...files].map(([path, owned]) => ({ path, owned })))
    this.atomic(() => (this.manifest = Buffer.from([encodeHead(0), ...lines, encodeState(state)].join(''))))
    this.writeHead()
  }

  private writeHead(): void {
    const head = Buffer.from(encodeHead(this.manifest.length))
    this.effect((part) => {
      const count = Math.round(part * head.length)
      head.copy(this.manifest, 0, 0, count)
      this.hasTornHead ||= count > 0 && count < head.length
    })
  }

  read() {
    const reader = manifestReader()
    for (const line of this.manifest.toString().split('\n').slice(0, -1)) reader.line(line, Buffer.byteLength(line) + 1)
    return reader.finish()
  }

  /** The files outside the engine folder. */
  tree(): Tree {
    return Object.fromEntries([...this.files].filter(([file]) => !isBelow(file, '.cluster-sync')))
  }
}

function manifestOf(files: Tree, apply: (typeof applyIds)[number]): Buffer {
  const changes = Object.entries(files).map(([path, content]): ManifestChange => ({ path, owned: ownedAs(content) }))
  const text = [...changeLines(changes), encodeState(stateOf(apply))].join('')
  return Buffer.from(`${encodeHead(encodeHead(0).length + Buffer.byteLength(text))}${text}`)
}

/** Starts a process, which recovers an interrupted apply. Returns whether the outcome is suspect. */
function recover(disk: Disk): 'sure' | 'suspect' {
  if (disk.journal === undefined) return 'sure'
  const journal = decodeJournal(disk.journal.toString())
  const manifest = disk.read()
  const effectsOn = {
    ...disk.effectsOn(journal, true),
    hasRun: () => disk.files.keys().some((file) => isBelow(file, run)) || journal.steps.length === 0,
    misplaced: () =>
      [...journal.changes].find(({ path, owned }) => owned !== undefined && idOf(disk.files.get(path) ?? '0') !== owned.id)?.path,
    isUndone: () =>
      journal.steps.every((step) => step.op !== 'put' || !step.had || disk.files.has(step.path)) &&
      [...journal.changes].every(({ path }) => {
        const owned = manifest.files.get(path)
        return owned === undefined || idOf(disk.files.get(path) ?? '0') === owned.id
      }),
  }
  const recorded = { apply: manifest.state?.publish ?? null, suspectReason: manifest.suspectReason }
  const outcome = resumeSteps(
    effectsOn,
    { steps: journal.steps, base: journal.base, apply: journal.state.publish },
    recorded,
    () => undefined,
  )
  if (outcome.kind === 'suspect') return 'suspect'
  effectsOn.dropJournal()
  return 'sure'
}

void t.test('after any failure, kill or loss, recovery ends at exactly the old or the new commit, or suspect', async (t) => {
  const ends = { sure: 0, suspect: 0, failed: 0, old: 0, new: 0, sureAfterLoss: 0 }
  await fc.assert(
    fc.asyncProperty(
      tree,
      tree,
      fc.array(failure, { minLength: 1, maxLength: 2 }),
      fc.array(fc.array(failure, { maxLength: 2 }), { maxLength: 3 }),
      loss,
      async (before, after, first, later, lost) => {
        const disk = new Disk(before)
        const { staged, ...journal } = journalOf(before, after)
        for (const [file, content] of staged) disk.files.set(file, content)
        // Represents the run folder itself, which exists even without files.
        disk.files.set(`${run}/here`, '')
        const attempt = async (
          failures: readonly Failure[],
          work: () => Promise<'sure' | 'suspect'> | 'sure' | 'suspect',
        ): Promise<'sure' | 'suspect' | 'failed'> => {
          disk.start(failures)
          try {
            return await work()
          } catch (error) {
            if (error instanceof Killed || /input\/output error|EIO/.test(String(error))) return 'failed'
            throw error
          }
        }
        let end: 'sure' | 'suspect' | 'failed' = await attempt(first, async () => {
          await applySteps(disk.effectsOn(journal, false), journal.steps, () => undefined)
          return 'sure' as const
        })
        disk.lose(lost)
        for (const failures of [...later, []]) if (end !== 'suspect') end = await attempt(failures, () => recover(disk))
        ends[end] += 1
        if (end === 'suspect') return disk.hasTornHead || disk.hasLost
        if (disk.hasLost) ends.sureAfterLoss += 1
        const { state, files, suspectReason } = disk.read()
        // A damaged head that the apply did not write also makes it suspect.
        if (suspectReason !== undefined) return disk.hasTornHead
        ends[state?.publish === 'new' ? 'new' : 'old'] += 1
        const expected = state?.publish === 'new' ? after : before
        const isExact =
          isDeepStrictEqual(disk.tree(), { ...expected }) && isDeepStrictEqual(new Set(files.keys()), new Set(Object.keys(expected)))
        return isExact && end === 'sure' && disk.journal === undefined
      },
    ),
    { numRuns: 3_000 },
  )
  t.ok(ends.suspect > 100 && ends.old > 100 && ends.new > 100 && ends.sureAfterLoss > 10, JSON.stringify(ends))
})
