/**
 * A commit or a planted journal may move thousands of files and folders at once. Each is compared with its own parent folders, not with all
 * others: four times the number may take about four times the time.
 */
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { throwsError } from '../support/assertions.ts'
import { readJournal, writeJournal } from '../../runtime/sync/apply/journal.ts'
import { recover } from '../../runtime/sync/apply/open-folder.ts'
import { layOut } from '../../runtime/sync/apply/steps.ts'
import type { DesiredFile } from '../../runtime/sync/desired/desired-tree.ts'
import { maxRecordBytes } from '../../runtime/sync/disk/manifest-file.ts'
import { emptyManifest, type Owned, type State } from '../../runtime/sync/model/manifest.ts'
import { noAliases } from '../../runtime/sync/plan/path-collisions.ts'
import type { Observed } from '../../runtime/sync/plan/observed.ts'
import { plan } from '../../runtime/sync/plan/plan.ts'
import { temporaryFolder } from '../support/repository.ts'

const id = 'a'.repeat(40) as Owned['id']
const stat = { size: 1, mtimeMs: 1, ino: 1, mode: 0o644 }
const owned: Owned = { id, exec: false, mapping: 0, stat, rendered: undefined, driftVerdict: undefined }
const numbered = (count: number, prefix: string): string[] => Array.from({ length: count }, (_, index) => `${prefix}${index}`)

/** Plans a commit that replaces files by folders or, the other way around, folders by files. */
function planReplacing(old: readonly string[], made: readonly string[], seen: (index: number) => Observed): void {
  const file = (path: string): DesiredFile => ({ path, id, exec: false, size: 1, mapping: 0 })
  const observed = new Map<string, Observed>(old.map((path, ino) => [path, { kind: 'file', stat: { ...stat, ino }, exec: false, id }]))
  for (const [index, path] of made.entries()) observed.set(path, seen(index))
  const planned = plan({
    rootBytes: 10,
    puts: new Map(made.map((path) => [path, file(path)])),
    removed: new Map(old.map((path) => [path, 'Owned'])),
    foreign: [],
    owned: new Map(old.map((path, ino) => [path, { ...owned, stat: { ...stat, ino } }])),
    observed,
    aliases: noAliases,
    repairing: new Set(),
    withheld: new Set(),
    prunesAll: () => false,
    isRendered: () => false,
    maxDeletions: '100%',
    commit: id,
    confirmedDeletions: id,
    mode: undefined,
  })
  const { steps } = layOut(planned)
  if (planned.problems.length > 0 || steps.length < made.length) throw new Error('the plan is not complete')
}

const state: State = {
  commit: id,
  ref: 'main',
  syncHash: 'v1-x',
  treeKey: '',
  mappings: [],
  chain: [],
  absent: [],
  publish: '2',
  bootId: '',
  scanPending: [],
  scanned: {},
  commissioning: false,
  publishedAt: 0,
  findings: [],
  problems: [],
}

const cases: Record<string, { count: number; run(count: number, dataDir: string): void | Promise<void> }> = {
  'files that become folders': {
    count: 16_000,
    run(count) {
      const files = numbered(count, 'projects/p/f')
      const below = files.map((path) => `${path}/x`)
      planReplacing(files, below, (index) => ({ kind: 'under-file', file: files[index] ?? '' }))
    },
  },
  'folders that become files': {
    count: 4_000,
    run(count) {
      const files = numbered(count, 'projects/p/f')
      const below = files.map((path) => `${path}/x`)
      planReplacing(below, files, (index) => ({ kind: 'folder', files: [below[index] ?? ''] }))
    },
  },
  'folders of a planted journal': {
    count: 16_000,
    async run(count, dataDir) {
      mkdirSync(`${dataDir}/.cluster-sync/run-1`, { recursive: true })
      const steps = Array.from({ length: count }, (_, index) => ({
        op: 'tree' as const,
        path: `projects/t${index}`,
        stage: `t${index}`,
      }))
      const changes = numbered(count, 'other/f').map((path) => ({ path, owned }))
      writeJournal(dataDir, { run: 'run-1', bootId: '', base: null, state, emptied: [], steps, changes })
      await recover(dataDir, emptyManifest(), silentLog, () => undefined)
    },
  },
}

/** Less CPU time is harmless, and its measurement is noise. */
const floorMs = 250

/** The minimum of at most three rounds, in milliseconds of CPU time. */
async function cpuMs(work: () => void | Promise<void>): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 3 && least > floorMs; round += 1) {
    const before = process.cpuUsage()
    await work()
    const { user, system } = process.cpuUsage(before)
    least = Math.min(least, (user + system) / 1000)
  }
  return least
}

for (const [name, { count, run }] of Object.entries(cases)) {
  void t.test(`${name}: linear time`, { timeout: 120_000 }, async (t) => {
    const dataDir = temporaryFolder(t, 'many-moves')
    await run(count / 16, dataDir)
    const wholeMs = await cpuMs(() => run(count, dataDir))
    const quarterMs = wholeMs <= floorMs ? wholeMs : await cpuMs(() => run(count / 4, dataDir))
    // In quadratic time, all would take 16 times as long.
    t.ok(wholeMs <= floorMs || wholeMs < 9 * quarterMs, `a quarter of them took ${quarterMs} ms, all ${wholeMs} ms`)
  })
}

void t.test('a sparse journal of the largest size is refused without being read into memory', async (t) => {
  const dataDir = temporaryFolder(t, 'many-moves')
  mkdirSync(`${dataDir}/.cluster-sync`)
  const file = `${dataDir}/.cluster-sync/journal`
  writeFileSync(file, '{"version":3,"run":"run-1","bootId":"","base":null}\n')
  truncateSync(file, maxRecordBytes() - 1_000)
  writeFileSync(file, '\n{"end":2,"crc":0}\n', { flag: 'a' })
  const before = process.resourceUsage().maxRSS
  throwsError(t, () => readJournal(dataDir), {
    reason: 'StateUnreadable',
    message: 'the journal of an interrupted sync is damaged at line 2',
  })
  const grownMiB = (process.resourceUsage().maxRSS - before) / 1024
  t.ok(grownMiB < 100, `${grownMiB} MiB`)
})
