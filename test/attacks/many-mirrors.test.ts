/**
 * A namespace that names one repository after the other does not fill the controller's memory with mirrors.
 */
import path from 'node:path'
import t from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { Fault } from '../../runtime/platform/fault.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { createMirrors } from '../../runtime/git/mirrors.ts'
import { anonymousRemote, mirrorKey } from '../../runtime/git/remote/remote.ts'
import { openNetwork } from '../../runtime/git/remote/network.ts'
import { createRemotes } from '../../runtime/git/remotes.ts'
import { temporaryFolder } from '../support/repository.ts'

void t.test('a namespace gets 1,000 mirrors until the unused ones are removed, and others get theirs', async (t) => {
  const mirrors = createMirrors({ folder: path.join(temporaryFolder(t, 'mirrors'), 'm'), clock: systemClock, log: silentLog })
  t.teardown(async () => mirrors.close())
  const remoteOf = (name: string) => anonymousRemote(`https://git.example/${name}.git`, { allowLocal: false })
  const open = (name: string, namespace: string): string => {
    try {
      mirrors.of(remoteOf(name), namespace)
      return 'opened'
    } catch (error) {
      return error instanceof Fault ? error.reason : String(error)
    }
  }
  const openMany = (from: number) => new Set(Array.from({ length: 1_000 - from }, (_, index) => open(`${from + index}`, 'hostile')))
  t.strictSame([...openMany(0)], ['opened'])
  t.equal(open('more', 'hostile'), 'SourceVolumeFull')
  t.equal(open('0', 'hostile'), 'opened', 'one that is open already')
  t.equal(open('plant', 'plant'), 'opened')
  await mirrors.prune(new Set([remoteOf('0'), remoteOf('plant')].map(mirrorKey)))
  t.strictSame([...openMany(1)], ['opened'])
  t.equal(open('more', 'hostile'), 'opened', 'one that is still named does not count')
  t.equal(open('another', 'hostile'), 'SourceVolumeFull')
})

void t.test('mirrors share the text of one Secret, and those of a namespace keep at most 4 MiB of different ones', async (t) => {
  const mirrors = createMirrors({ folder: path.join(temporaryFolder(t, 'mirrors'), 'm'), clock: systemClock, log: silentLog })
  t.teardown(async () => mirrors.close())
  const signal = new AbortController().signal
  const bundle = 'x'.repeat(256 * 1024)
  const remoteOf = createRemotes({
    allowLocal: false,
    allowedHosts: [],
    readSecret: async (_namespace, name) => ({
      version: name,
      data: new Map([['ca.crt', Buffer.from(`${name}${bundle.slice(name.length)}`)]]),
    }),
    network: openNetwork,
    clock: systemClock,
    signal,
  })
  const open = async (repository: number, secret: string, namespace = 'hostile'): Promise<string> => {
    const caBundle = { secretRef: { name: secret, key: 'ca.crt' } }
    try {
      mirrors.of(await remoteOf(namespace, { repo: `https://git.example/${repository}.git`, caBundle }, signal), namespace)
      return 'opened'
    } catch (error) {
      return error instanceof Fault ? error.reason : String(error)
    }
  }
  const texts = async (name: string): Promise<readonly string[]> =>
    (await remoteOf('a', { repo: 'https://git.example/a.git', caBundle: { secretRef: { name, key: 'ca.crt' } } }, signal)).access.texts
  t.equal((await texts('one'))[0]?.length, bundle.length)
  for (let index = 0; index < 100; index += 1) t.equal(await open(index, 'one'), 'opened')
  for (let index = 1; index < 16; index += 1) t.equal(await open(100 + index, `ca-${index}`), 'opened')
  t.equal(await open(200, 'another'), 'CredentialsInvalid')
  t.equal(await open(200, 'another', 'plant'), 'opened')
  await mirrors.prune(new Set())
  t.equal(await open(200, 'another'), 'opened')
})
