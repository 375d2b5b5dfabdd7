/**
 * Tests that the agent, started as in its image, syncs within 48 MiB of memory: a first sync of 20,000 files from the content server, and
 * later syncs of one file.
 */
import { mkdirSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import type { ResolvedProfile } from '../../../../runtime/api/schema/profile.ts'
import { root } from '../../../support/collection-tree.ts'
import { startGitHost } from '../../../support/git-host.ts'
import { imageEnvironment, imageFlags } from '../../../support/image-flags.ts'
import { largeTree } from '../../../support/large-tree.ts'
import { bundlePrograms, peakWhile, startProcess } from '../../../support/measured-process.ts'
import { profileOf } from '../../../support/memory-source.ts'
import type { DeliverAnswer } from '../../../support/programs/deliver.ts'
import type { EngineAnswer } from '../../../support/programs/engine.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const resources = 10_000
const budgetMiB = 48
const later = 3

const profiles: Readonly<Record<string, ResolvedProfile>> = {
  'a mapping': profileOf([{ source: root, destination: 'config/resources' }]),
  collections: profileOf([], { collections: { root, mode: 'auto' } }),
}

void t.test('a first sync of 20,000 files and later small syncs stay within the memory budget', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'agent-memory')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  const repository = host.repository('plant.git')
  const programs = ['deliver.ts', 'engine.ts'].map((name) => path.join(import.meta.dirname, '../../../support/programs', name))
  const [deliverProgram = '', engineProgram = ''] = await bundlePrograms(programs, folder)
  const deliver = await startProcess(
    deliverProgram,
    [path.join(folder, 'mirrors'), root],
    imageFlags('controller'),
    undefined,
    imageEnvironment('controller'),
  )
  t.teardown(async () => deliver.stop())
  let head = repository.commit(largeTree(resources))
  const publish = async (): Promise<DeliverAnswer> =>
    await deliver.ask<DeliverAnswer>({ repo: host.url('plant.git/.git'), mirrors: 'all', fetch: head })

  for (const [index, [name, profile]] of Object.entries(profiles).entries()) {
    const engine = await startProcess(engineProgram, [], imageFlags('agent'), undefined, imageEnvironment('agent'))
    const dataDir = path.join(folder, `data-${index}`)
    mkdirSync(dataDir)
    const sync = async (): Promise<number> => {
      const { url, caBundle } = await publish()
      const answer = await engine.ask<EngineAnswer>({ url, caBundle, commit: head, dataDir, profile })
      t.equal(answer.phase, 'Synced', answer.message ?? 'as desired')
      return answer.written
    }
    try {
      const { result: written, peak } = await peakWhile(engine.pid, async () => {
        const first = await sync()
        for (let round = 0; round < later; round += 1) {
          head = repository.commit({ [`${root}/core/ignition/schedule/schedule 0/config.json`]: `{"changed":"${index} ${round}"}` })
          t.equal(await sync(), 1)
        }
        return first
      })
      t.ok(written > 1.7 * resources, `${written} files`)
      t.ok(peak.anonymousMiB < budgetMiB, `${name}: ${Math.round(peak.anonymousMiB)} MiB of ${budgetMiB}`)
    } finally {
      await engine.stop()
    }
  }
})
