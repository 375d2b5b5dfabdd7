/**
 * A namespace that names one repository after the other does not fill the controller's memory with mirrors.
 */
import path from 'node:path'
import t from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { Fault } from '../../runtime/platform/fault.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { createMirrors } from '../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../runtime/git/remote/remote.ts'
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
  await mirrors.prune([remoteOf('0'), remoteOf('plant')])
  t.strictSame([...openMany(1)], ['opened'])
  t.equal(open('more', 'hostile'), 'opened', 'one that is still named does not count')
  t.equal(open('another', 'hostile'), 'SourceVolumeFull')
})
