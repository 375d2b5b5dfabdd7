/**
 * Makes the plan that a sync would carry out, and tells it file by file.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { diff } from 'node:util'
import { systemClock } from '../clock.ts'
import { configuredMode } from '../collections/mode.ts'
import { Fault } from '../fault.ts'
import { resolveProfile, sourceRoots, syncHash } from '../gatewaysync/profile.ts'
import { parseRefName } from '../gatewaysync/values.ts'
import { silentLog } from '../log.ts'
import { createMirrors } from '../source/mirrors.ts'
import { parseStandaloneSync, parseTargets } from '../standalone/settings.ts'
import { readBlobs } from '../sync/blobs.ts'
import type { Wanted } from '../sync/cycle.ts'
import { readSmallFile } from '../sync/disk.ts'
import { readManifest } from '../sync/manifest-file.ts'
import { recipeOf } from '../sync/mappings.ts'
import type { PlannedPut } from '../sync/plan.ts'
import { prepare, type Prepared } from '../sync/prepare.ts'

export type PlanOptions = {
  file: string
  data: string
  profile?: string
  mode?: string
  ref?: string
  format: 'text' | 'json'
}

/** Contents beyond this are named, not compared. */
const comparedBytes = 256 * 1024
const comparedFiles = 200
const timeoutMs = 600_000

type Change = { op: 'add' | 'change' | 'remove'; path: string; diff?: string }

/** Throws what resolving, reading and planning throw. */
export async function planFolder(options: PlanOptions): Promise<{ text: string; changes: boolean }> {
  const sync = parseStandaloneSync(readText(options.file), options.file)
  const [target] = parseTargets({ target: [], data: options.data, gateway: undefined, profile: options.profile }, sync, process.cwd())
  if (target === undefined) throw new Fault('InvalidConfiguration', '--data is needed')
  const signal = AbortSignal.timeout(timeoutMs)
  const folder = mkdtempSync(path.join(os.tmpdir(), 'cluster-sync-plan-'))
  const mirrors = createMirrors({ folder, clock: systemClock, log: silentLog, allowLocal: true })
  try {
    const mirror = mirrors.of({ repo: sync.spec.git.repo })
    const ref = parseRefName(options.ref ?? sync.spec.git.ref)
    const { commit } = await mirror.resolve(ref, { fresh: true }, signal)
    const profile = resolveProfile(sync.spec.sync, target.profile)
    const conf = readSmallFile(path.join(target.dataDir, 'ignition.conf'), comparedBytes)?.toString('utf8')
    const mode = options.mode === undefined ? configuredMode({ ignitionConf: conf }) : { name: options.mode, from: 'target' as const }
    const wanted: Wanted = {
      commit,
      ref,
      profile,
      syncHash: syncHash(profile, sync.spec.gateway),
      dataDir: target.dataDir,
      paused: false,
      facts: {
        gatewayName: target.name,
        podName: target.name,
        ordinal: 0,
        podLabels: {},
        namespace: sync.namespace,
        mode: mode ?? { name: '', from: 'none' },
      },
    }
    const source = mirror.source(() => sourceRoots(profile))
    const prepared = await prepare(source, wanted, readManifest(target.dataDir), 'as-configured', signal)
    const contents = await contentsOf(prepared, wanted, source, signal)
    return tell(options.format, commit, prepared, changesOf(prepared, wanted, contents))
  } finally {
    await mirrors.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    throw new Fault('InvalidConfiguration', `${file}: cannot be read`, { cause: error })
  }
}

async function contentsOf({ plan }: Prepared, wanted: Wanted, source: Parameters<typeof readBlobs>[0], signal: AbortSignal) {
  const ids = plan.puts.slice(0, comparedFiles).map(({ id }) => id)
  return await readBlobs(source, wanted, ids, comparedBytes, signal)
}

function changesOf({ plan, intent, renderer }: Prepared, { dataDir }: Wanted, contents: ReadonlyMap<string, Uint8Array>): Change[] {
  const made = (put: PlannedPut): Uint8Array | undefined => {
    const content = contents.get(put.id)
    const mapping = intent.mappings[put.mapping]
    const recipe = mapping === undefined ? undefined : recipeOf(mapping, put.path)
    return content === undefined || recipe === undefined || renderer === undefined
      ? content
      : renderer.file(put.path, put.id, content, recipe).content
  }
  const puts = plan.puts.map((put): Change => {
    const op = put.before === 'absent' ? 'add' : 'change'
    const shown = lineDiff(op === 'add' ? undefined : readSmallFile(path.join(dataDir, put.path), comparedBytes), made(put))
    return { op, path: put.path, ...(shown === undefined ? {} : { diff: shown }) }
  })
  const removals = plan.deletes.map(({ path: file }): Change => ({ op: 'remove', path: file }))
  return [...puts, ...removals].toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

/** Lines that go and come; undefined where a side is no text or too large. */
function lineDiff(before: Uint8Array | undefined, after: Uint8Array | undefined): string | undefined {
  if (after === undefined || [before, after].some((content) => content?.includes(0) === true)) return undefined
  const lines = (content: Uint8Array | undefined): string[] =>
    content === undefined ? [] : Buffer.from(content).toString('utf8').split('\n')
  const hunks: { gone: string[]; come: string[] }[] = [{ gone: [], come: [] }]
  for (const [operation, line] of diff(lines(after), lines(before))) {
    if (operation === 0) hunks.push({ gone: [], come: [] })
    else hunks.at(-1)?.[operation === 1 ? 'come' : 'gone'].push(line)
  }
  return hunks.flatMap(({ gone, come }) => [...gone.map((line) => `-${line}`), ...come.map((line) => `+${line}`)]).join('\n')
}

function tell(
  format: PlanOptions['format'],
  commit: string,
  { plan, findings }: Prepared,
  changes: readonly Change[],
): { text: string; changes: boolean } {
  const { added, changed, removed } = plan.counts
  if (format === 'json') {
    const document = { commit, added, changed, removed, changes, problems: plan.problems, findings }
    return { text: `${JSON.stringify(document, undefined, 2)}\n`, changes: changes.length > 0 }
  }
  const marks = { add: '+', change: '~', remove: '-' }
  const lines = changes.flatMap(({ op, path: file, diff: shown }) => [
    `${marks[op]} ${file}`,
    ...(shown ?? '')
      .split('\n')
      .filter(Boolean)
      .map((line) => `    ${line}`),
  ])
  const problems = plan.problems.map(({ reason, message }) => `! ${message} (${reason})`)
  return {
    text: [...lines, ...problems, `${added} to add, ${changed} to change, ${removed} to remove at ${commit}`, ''].join('\n'),
    changes: changes.length > 0,
  }
}
