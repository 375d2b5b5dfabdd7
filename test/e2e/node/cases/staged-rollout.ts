/**
 * Three gateways that apply commits one after the other: a commit that causes a problem on the first one stops there and is rolled back
 * automatically.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { matchObject } from '../../../support/assertions.ts'
import { until } from '../../../support/world.ts'
import { type Cluster, patience, plantRepository, tellReceiver, untilSynced, volumeOf } from '../cluster.ts'
import { say } from '../given.ts'
import { plantSite, type Site } from '../site.ts'
import { type Bar, timelineOf } from '../timeline.ts'

const sync = 'line'
const line: Site = {
  namespace: 'line',
  name: 'line',
  replicas: 3,
  mode: 'dev',
  repository: 'stages.git',
  sync,
  spec: {
    // Validation does not find a fault that only a gateway can detect.
    validation: { policy: 'Off' },
    rollout: {
      stages: [
        { name: 'first', selector: { names: ['line-0'] }, soak: '2s' },
        { name: 'others', maxConcurrent: 1 },
      ],
      onFailure: 'Rollback',
    },
  },
}
const project = 'services/projects/staged/project.json'
const good = JSON.stringify({ title: 'Staged', enabled: true, inheritable: false, parent: '', description: '' })
/** A gateway continues to load such a project and reports a problem. */
const bad = '{'
const gateways = [0, 1, 2].map((ordinal) => `${line.name}-${ordinal}`)
/** A timeline of the gateways, for review. */
const drawingFile = path.join(import.meta.dirname, '../../../..', 'build/rollout-timeline.svg')
const pollIntervalMs = 20

export async function stopAtFirstGateway(t: Test, cluster: Cluster): Promise<void> {
  const repository = plantRepository(cluster, line.repository)
  const first = repository.commit({ [project]: good })
  await plantSite(cluster, line)
  await untilSynced(cluster, line, sync, repository, first)
  t.pass('every gateway has the first commit')

  const refused = repository.commit({ [project]: bad })
  const seen = await watchRollout(cluster, refused)
  const status = await cluster.status(line.namespace, sync)
  matchObject(t, status, {
    published: { commit: first },
    source: { commit: refused, held: 'RolloutFailed' },
    rollout: { state: 'RolledBack', refused: { commit: refused } },
  })
  matchObject(t, status?.history?.[0], { commit: refused, outcome: 'Refused', reason: 'RolloutFailed' })
  t.match(status?.rollout?.message, /line-0: NewProblems/)
  const had = await Promise.all(
    gateways.map(async (pod) => (await cluster.report(line.namespace, pod))?.history?.some(({ commit }) => commit === refused) === true),
  )
  t.strictSame(had, [true, false, false], 'the others never took it')
  t.notOk(seen.has('line-1') || seen.has('line-2'), 'nor held a file of it')

  const corrected = repository.commit({ [project]: good.replace('Staged', 'Corrected') })
  await tellReceiver(cluster, line.namespace, sync)
  await untilSynced(cluster, line, sync, repository, corrected)
  matchObject(t, (await cluster.status(line.namespace, sync))?.rollout, { state: 'Done', commit: corrected })
}

/** The time at which a gateway was seen with the bad file, in milliseconds since the push. */
type Held = ReadonlyMap<string, { fromMs: number; toMs: number }>

/** Pushes, and resolves when the commit was refused and every gateway has the previous one. Draws what was observed meanwhile. */
async function watchRollout(cluster: Cluster, refused: string): Promise<Held> {
  const pushedMs = performance.now()
  const sinceMs = (): number => performance.now() - pushedMs
  const held = new Map<string, { fromMs: number; toMs: number }>()
  const looks = setInterval(() => {
    for (const [ordinal, pod] of gateways.entries()) {
      if (!holdsBadFile(cluster, ordinal)) continue
      held.set(pod, { fromMs: held.get(pod)?.fromMs ?? sinceMs(), toMs: sinceMs() })
    }
  }, pollIntervalMs)
  try {
    await tellReceiver(cluster, line.namespace, sync)
    const refusedMs = await until(
      async () => ((await cluster.status(line.namespace, sync))?.rollout?.refused?.commit === refused ? sinceMs() : undefined),
      'the commit was refused',
      patience.waitMs,
    )
    await until(
      async () => ((await cluster.status(line.namespace, sync))?.gateways?.synced === line.replicas ? true : undefined),
      'every gateway has the commit before',
      patience.waitMs,
    )
    draw(held, refusedMs, sinceMs())
    return held
  } finally {
    clearInterval(looks)
  }
}

function holdsBadFile(cluster: Cluster, ordinal: number): boolean {
  try {
    return readFileSync(path.join(volumeOf(cluster, line, ordinal), 'projects/staged/project.json'), 'utf8') === bad
  } catch {
    return false
  }
}

function draw(held: Held, refusedMs: number, endMs: number): void {
  const bars: Bar[] = [
    { name: 'push to refusal', fromMs: 0, toMs: refusedMs },
    ...gateways.flatMap((pod): Bar[] => {
      const { fromMs, toMs } = held.get(pod) ?? { fromMs: endMs, toMs: endMs }
      const before = { name: `${pod}: the commit before`, fromMs: 0, toMs: fromMs }
      if (!held.has(pod)) return [before]
      const after = { name: `${pod}: the commit before`, fromMs: toMs, toMs: endMs }
      return [before, { name: `${pod}: the bad commit`, fromMs, toMs }, after]
    }),
  ]
  const drawing = timelineOf('A bad commit stops at the first of three gateways', bars)
  mkdirSync(path.dirname(drawingFile), { recursive: true })
  writeFileSync(drawingFile, drawing)
  say(`as a drawing (${drawingFile}):`)
  say(drawing)
}
