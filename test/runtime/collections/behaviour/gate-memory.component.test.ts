/**
 * What the gate adds to the controller's memory, in a process that is started as in the image: a first commit of 10,000 resources, and a
 * long sequence of later ones of every kind.
 */
import path from 'node:path'
import t from 'tap'
import * as v from 'valibot'
import { resolveProfile } from '../../../../runtime/gatewaysync/decide/profile.ts'
import { gatewaySyncSpec } from '../../../../runtime/gatewaysync/schema/spec.ts'
import { config, type Files, modeJson, resource, root } from '../../../support/collection-tree.ts'
import { imageEnvironment, imageFlags } from '../../../support/image-flags.ts'
import { addedAndRemoved, largeTree } from '../../../support/large-tree.ts'
import { bundlePrograms, memoryOf, peakWhile, startProcess } from '../../../support/measured-process.ts'
import type { GateAnswer, GateMessage } from '../../../support/programs/gate.ts'
import { type Changes, importCommits, makeRepository, temporaryFolder } from '../../../support/repository.ts'

/**
 * The budget is 24 MiB, of which ten later commits take 21 to 24 on a quiet machine. Where other programs want the processors, the threads that
 * compile and collect come late, and up to 38 were seen.
 */
const limitMiB = 48
/** What is left when the thread has ended: the list of files, and what the process itself needed to talk to it; 17 MiB, and 25 if busy. */
const restLimitMiB = 34
const rounds = 40

/** By turns: one resource, three hundred, a changed file, a changed manifest of a collection. */
function change(round: number): Changes {
  const added = (count: number) => (number: number) =>
    Object.assign(
      {},
      ...Array.from({ length: count }, (_, index) => resource(`core/ignition/schedule/added ${number} ${index}`, config({ index }))),
    ) as Files
  if (round % 10 < 6) return addedAndRemoved(round, added(1))
  if (round % 10 < 8) return addedAndRemoved(round, added(300))
  if (round % 10 === 8) return { [`${root}/core/ignition/schedule/schedule ${round}/config.json`]: '{}' }
  return { [`${root}/prod/config-mode.json`]: modeJson(`Production ${round}`, 'core') }
}

void t.test('the gate stays within its memory over many commits of 10,000 resources', { timeout: 300_000 }, async (t) => {
  const folder = temporaryFolder(t, 'gate-memory')
  const repository = makeRepository(folder)
  const commits = importCommits(repository, [largeTree(10_000), ...Array.from({ length: rounds }, (_, round) => change(round))])
  const [program = ''] = await bundlePrograms(['test/support/programs/gate.ts'], path.join(folder, 'program'))
  const gate = await startProcess(program, [], imageFlags('controller'), undefined, imageEnvironment('controller'))
  t.teardown(() => gate.stop())
  const spec = v.parse(gatewaySyncSpec({ allowLocal: true }), {
    git: { repo: 'https://git.example.com/a.git', ref: 'main' },
    sync: { profiles: { default: { collections: { root } } } },
  })
  const profile = resolveProfile(spec.sync, 'default')
  const ask = (commit: string): Promise<GateAnswer> =>
    gate.ask<GateAnswer>({ folder: path.join(folder, '.git'), commit, profile } satisfies GateMessage)
  const before = memoryOf(gate.pid).anonymousMiB
  const [first = '', ...later] = commits
  t.equal(later.length, rounds)
  const start = await peakWhile(gate.pid, () => ask(first))
  t.match(start.result.verdict, { kind: 'checked', errors: 0, warnings: 0 })
  const startMiB = start.peak.anonymousMiB - before
  t.ok(startMiB < limitMiB, `first commit: ${startMiB.toFixed(1)} MiB of ${limitMiB}`)
  const sequence = await peakWhile(gate.pid, async () => {
    for (const commit of later) t.match((await ask(commit)).verdict, { kind: 'checked', errors: 0 })
  })
  const laterMiB = sequence.peak.anonymousMiB - before
  t.ok(laterMiB < limitMiB, `${rounds} later commits: ${laterMiB.toFixed(1)} MiB of ${limitMiB}`)
  await gate.ask<GateAnswer>({ rest: true } satisfies GateMessage)
  const restMiB = memoryOf(gate.pid).anonymousMiB - before
  t.ok(restMiB < restLimitMiB, `at rest: ${restMiB.toFixed(1)} MiB of ${restLimitMiB}`)
  t.comment(`first ${startMiB.toFixed(1)} MiB, later ${laterMiB.toFixed(1)}, at rest ${restMiB.toFixed(1)}`)
})
