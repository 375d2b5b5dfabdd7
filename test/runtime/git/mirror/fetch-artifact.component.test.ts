/**
 * Fetches of artifacts within the space of the volume.
 */
import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import path from 'node:path'
import t from 'tap'
import { createGitMemory } from '../../../../runtime/git/command/memory.ts'
import { createArtifactFetches, rememberVerdicts } from '../../../../runtime/git/mirror/fetch-artifact.ts'
import { openNetwork } from '../../../../runtime/git/remote/network.ts'
import { anonymousRemote } from '../../../../runtime/git/remote/remote.ts'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import { startRegistry } from '../../../support/artifact-registry.ts'
import { rejectsWith } from '../../../support/assertions.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const mebibyte = 1024 * 1024

void t.test('an artifact whose pack exceeds the usual space is imported with the largest', async (t) => {
  if (!requires(t, 'docker-registry', 'git', 'tar')) return
  const folder = temporaryFolder(t, 'fetch-artifact')
  const at = path.join(folder, 'mirror.git')
  execFileSync('git', ['init', '-q', '--bare', at])
  const registry = await startRegistry(t, path.join(folder, 'registry'))
  // gzip finds the text of the file before, and git compresses each file alone.
  const text = randomBytes(16 * 1024).toString('base64')
  await registry.push('plant', 'alike', Object.fromEntries(Array.from({ length: 100 }, (_, index) => [`${index}`, `${text}${index}`])))
  let bytes = { usual: mebibyte, most: 4 * mebibyte }
  const reserved: string[] = []
  const fetches = createArtifactFetches({
    remote: anonymousRemote(`oci+http://${registry.address}/plant`, { allowLocal: true }),
    network: openNetwork,
    limits: { maxMemoryBytes: 1024 * mebibyte, maxPackBytes: 4 * mebibyte },
    memory: createGitMemory(),
    async reserve(_namespace, size) {
      reserved.push(size)
      return { maxPackBytes: bytes[size], release: () => reserved.push('released') }
    },
    digestOf: () => undefined,
    verdicts: rememberVerdicts(systemClock),
  })
  const fetched = async (): Promise<string> =>
    (await fetches.fetch({ at, namespace: 'plant', format: 'sha1' }, 'tag alike', AbortSignal.timeout(60_000))).commit
  bytes = { usual: mebibyte, most: mebibyte }
  await rejectsWith(t, fetched(), { reason: 'RepositoryTooLarge' })
  bytes = { usual: mebibyte, most: 4 * mebibyte }
  t.match(await fetched(), /^[0-9a-f]{40}$/)
  const both = ['usual', 'released', 'most', 'released']
  t.strictSame(reserved, [...both, ...both])
})
