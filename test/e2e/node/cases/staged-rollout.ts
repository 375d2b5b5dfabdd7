/**
 * Three gateways that take commits one after the other: a commit that makes the first of them complain stops there and goes back by itself.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
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
    // What a gateway alone can tell is not found before.
    validation: { policy: 'Off' },
    rollout: {
      stages: [
        { name: 'first', gateways: { names: ['line-0'] }, soak: '2s' },
        { name: 'others', maxConcurrent: 1 },
      ],
      onFailure: 'Rollback',
    },
  },
}
const project = 'services/projects/staged/project.json'
const good = JSON.stringify({ title: 'Staged', enabled: true, inheritable: false, parent: '', description: '' })
/** A gateway reads on with such a project and complains of it. */
const bad = '{'
const gateways = [0, 1, 2].map((ordinal) => `${line.name}-${ordinal}`)
/** `CLUSTER_SYNC_WRITE_PICTURES=1` with this case draws the picture of docs/rollout.md anew. */
const drawingFile = path.join(
  import.meta.dirname,
  '../../../..',
  process.env['CLUSTER_SYNC_WRITE_PICTURES'] === '1' ? 'docs/rollout-timeline.svg' : 'build/rollout-timeline.svg',
)
const lookEveryMs = 20

export async function stopAtFirstGateway(t: Test, cluster: Cluster): Promise<void> {
  const repository = plantRepository(cluster, line.repository)
  const first = repository.commit({ [project]: good })
  await plantSite(cluster, line)
  await untilSynced(cluster, line, sync, repository, first)
  t.pass('every gateway has the first commit')

  const refused = repository.commit({ [project]: bad })
  const seen = await watchRollout(cluster, refused)
  const status = await cluster.status(line.namespace, sync)
  t.match(status, {
    published: { commit: first },
    source: { commit: refused, held: 'RolloutFailed' },
    rollout: { state: 'RolledBack', refused: { commit: refused } },
    history: [{ commit: refused, outcome: 'Refused', reason: 'RolloutFailed' }],
  })
  t.match(status?.rollout?.message, /line-0: NewProblems/)
  const had = await Promise.all(
    gateways.map(async (pod) => (await cluster.report(line.namespace, pod))?.history?.some(({ commit }) => commit === refused) === true),
  )
  t.same(had, [true, false, false], 'the others never took it')
  t.notOk(seen.has('line-1') || seen.has('line-2'), 'nor held a file of it')

  const corrected = repository.commit({ [project]: good.replace('Staged', 'Corrected') })
  await tellReceiver(cluster, line.namespace, sync)
  await untilSynced(cluster, line, sync, repository, corrected)
  t.match((await cluster.status(line.namespace, sync))?.rollout, { state: 'Done', commit: corrected })
}

/** When a gateway was seen to hold the bad file, in milliseconds since the push. */
type Held = ReadonlyMap<string, { fromMs: number; toMs: number }>

/** Pushes, and settles when the commit was refused and every gateway has the one before. Draws what was seen meanwhile. */
async function watchRollout(cluster: Cluster, refused: string): Promise<Held> {
  const pushedMs = performance.now()
  const sinceMs = (): number => performance.now() - pushedMs
  const held = new Map<string, { fromMs: number; toMs: number }>()
  const looks = setInterval(() => {
    for (const [ordinal, pod] of gateways.entries()) {
      if (!holdsBadFile(cluster, ordinal)) continue
      held.set(pod, { fromMs: held.get(pod)?.fromMs ?? sinceMs(), toMs: sinceMs() })
    }
  }, lookEveryMs)
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
