import path from 'node:path'
import t from 'tap'
import { countPacks } from '../../../../runtime/git/disk/mirror-folder.ts'
import { createGitMemory, type GitMemory } from '../../../../runtime/git/command/memory.ts'
import { ReadingMemory } from '../../../../runtime/git/command/reading-memory.ts'
import { rememberVerdicts } from '../../../../runtime/git/mirror/fetch-artifact.ts'
import { FolderState } from '../../../../runtime/git/mirror/folder-state.ts'
import { openNetwork } from '../../../../runtime/git/remote/network.ts'
import { anonymousRemote } from '../../../../runtime/git/remote/remote.ts'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { makeRepository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const mebibyte = 1024 * 1024
const signal = AbortSignal.timeout(60_000)

void t.test('a mirror is repacked within the memory of git of a namespace, with the large share if it needs more', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'folder-state')
  const repository = makeRepository(path.join(folder, 'plant'))
  const taken: string[] = []
  let smallMiB = 16
  const memory: GitMemory = {
    limiter: createGitMemory().limiter,
    async run(size, { namespace, host }, own, work) {
      taken.push(`${size} ${namespace} ${host}`)
      return await work({ maxMemoryBytes: (size === 'small' ? smallMiB : 64) * mebibyte }, own)
    },
  }
  const at = path.join(folder, 'mirror')
  const state = new FolderState({
    folder: at,
    remote: anonymousRemote(repository.folder, { allowLocal: true }),
    network: openNetwork,
    limits: { maxMemoryBytes: 64 * mebibyte, maxPackBytes: 64 * mebibyte },
    memory,
    readingMemory: new ReadingMemory(),
    reserve: async () => ({ maxPackBytes: 64 * mebibyte, release() {} }),
    log: silentLog,
    digestOf: () => undefined,
    verdicts: rememberVerdicts(systemClock),
    keptCommits: () => undefined,
  })
  await state.prepare(signal)
  const push = async (content: string): Promise<void> => {
    repository.commit({ a: content })
    await state.fetch('plant', 'refs/heads/main', signal)
  }
  await push('1')
  await push('2')
  taken.length = 0
  await state.tidy('plant', signal, true)
  t.strictSame([taken, countPacks(at)], [['small plant '], 1])
  await push('3')
  taken.length = 0
  smallMiB = 1
  await state.tidy('plant', signal, true)
  t.strictSame([taken, countPacks(at)], [['small plant ', 'large plant '], 1])
  t.ok(state.is('sound'))
})
