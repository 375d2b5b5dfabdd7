import { readdirSync, readlinkSync } from 'node:fs'
import t from 'tap'
import { parseCommitHash } from '../../../runtime/gatewaysync/values.ts'
import { readBlobs } from '../../../runtime/source/content/read-blobs.ts'
import { temporaryFolder } from '../../support/repository.ts'

/** The open files of this process that lie in a folder, also those without a name by now. */
function openIn(folder: string): string[] {
  const targets = readdirSync('/proc/self/fd').map((number) => {
    try {
      return readlinkSync(`/proc/self/fd/${number}`)
    } catch {
      return 'closed meanwhile'
    }
  })
  return targets.filter((target) => target.startsWith(folder))
}

void t.test('a git that cannot be started leaves no end of its pipe open', async (t) => {
  const folder = temporaryFolder(t, 'mirror')
  // As many as are read through a pipe of their own.
  const ids = Array.from({ length: 1_000 }, (_, index) => parseCommitHash(index.toString(16).padStart(40, '0')))
  // Of no such bound an argument can be made, so starting it throws.
  const limits = { maxMemoryBytes: Symbol('no number') as unknown as number, maxPackBytes: 1 }
  await t.rejects(readBlobs({ folder, limits }, ids, { begin() {}, data() {}, end() {} }, new AbortController().signal), {
    name: 'TypeError',
  })
  t.same(openIn(folder), [])
})
