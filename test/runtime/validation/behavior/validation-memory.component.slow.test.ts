/**
 * Tests the memory that validation adds to the controller, in a process started as in the image: a first commit of 10,000 resources, and a
 * long sequence of later commits of every kind.
 */
import path from 'node:path'
import t from 'tap'
import * as v from 'valibot'
import { resolveProfile } from '../../../../runtime/api/schema/profile.ts'
import { gatewaySyncSpec } from '../../../../runtime/api/schema/spec.ts'
import { matchObject } from '../../../support/assertions.ts'
import { config, type Files, modeJson, resource, root } from '../../../support/collection-tree.ts'
import { imageEnvironment, imageFlags } from '../../../support/image-flags.ts'
import { addedAndRemoved, largeTree } from '../../../support/large-tree.ts'
import { bundlePrograms, memoryOf, peakWhile, startProcess } from '../../../support/measured-process.ts'
import type { ValidationAnswer, ValidationMessage } from '../../../support/programs/validation.ts'
import { type Changes, importCommits, makeRepository, temporaryFolder } from '../../../support/repository.ts'

/**
 * The budget is 24 MiB, of which ten later commits use 21 to 24 on a quiet machine. On a busy machine the compiler and garbage collector
 * threads run late, and up to 51 MiB were measured.
 */
const limitMiB = 64
/**
 * The remainder after the thread has ended: the list of files and the messages exchanged with the thread. 17 MiB, or 25 on a busy machine.
 */
const restLimitMiB = 34
const rounds = 40

/** Alternates between one resource, three hundred resources, a changed file and a changed collection manifest. */
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

void t.test('validation stays within its memory over many commits of 10,000 resources', { timeout: 600_000 }, async (t) => {
  const folder = temporaryFolder(t, 'validation-memory')
  const repository = makeRepository(folder)
  const commits = importCommits(repository, [largeTree(10_000), ...Array.from({ length: rounds }, (_, round) => change(round))])
  const [program = ''] = await bundlePrograms(['test/support/programs/validation.ts'], path.join(folder, 'program'))
  const process = await startProcess(program, [], imageFlags('controller'), undefined, imageEnvironment('controller'))
  t.teardown(() => process.stop())
  const spec = v.parse(gatewaySyncSpec({ allowLocal: true }), {
    git: { repo: 'https://git.example.com/a.git', ref: 'main' },
    sync: { profiles: { default: { collections: { root } } } },
  })
  const profile = resolveProfile(spec.sync, 'default')
  const ask = (commit: string): Promise<ValidationAnswer> =>
    process.ask<ValidationAnswer>({ folder: path.join(folder, '.git'), commit, profile } satisfies ValidationMessage)
  const before = memoryOf(process.pid).anonymousMiB
  const [first = '', ...later] = commits
  t.equal(later.length, rounds)
  const start = await peakWhile(process.pid, () => ask(first))
  matchObject(t, start.result.verdict, { kind: 'checked', errors: 0, warnings: 0 })
  const startMiB = start.peak.anonymousMiB - before
  t.ok(startMiB < limitMiB, `first commit: ${startMiB.toFixed(1)} MiB of ${limitMiB}`)
  const sequence = await peakWhile(process.pid, async () => {
    for (const commit of later) matchObject(t, (await ask(commit)).verdict, { kind: 'checked', errors: 0 })
  })
  const laterMiB = sequence.peak.anonymousMiB - before
  t.ok(laterMiB < limitMiB, `${rounds} later commits: ${laterMiB.toFixed(1)} MiB of ${limitMiB}`)
  await process.ask<ValidationAnswer>({ rest: true } satisfies ValidationMessage)
  const restMiB = memoryOf(process.pid).anonymousMiB - before
  t.ok(restMiB < restLimitMiB, `at rest: ${restMiB.toFixed(1)} MiB of ${restLimitMiB}`)
  t.comment(`first ${startMiB.toFixed(1)} MiB, later ${laterMiB.toFixed(1)}, at rest ${restMiB.toFixed(1)}`)
})
