import { readdirSync, readlinkSync } from 'node:fs'
import t from 'tap'
import { parseCommitHash } from '../../../../runtime/api/values.ts'
import { readBlobs } from '../../../../runtime/git/content/read-blobs.ts'
import { rejectsWith } from '../../../support/assertions.ts'
import { temporaryFolder } from '../../../support/repository.ts'

/** The open files of this process in a folder, including deleted ones. */
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

void t.test('a git process that cannot be started leaves its pipe closed', async (t) => {
  const folder = temporaryFolder(t, 'mirror')
  // This many blobs are read through a separate pipe.
  const ids = Array.from({ length: 1_000 }, (_, index) => parseCommitHash(index.toString(16).padStart(40, '0')))
  // This limit cannot be converted to an argument, so starting git throws.
  const limits = { maxMemoryBytes: Symbol('no number') as unknown as number, maxPackBytes: 1 }
  await rejectsWith(t, readBlobs({ folder, limits }, ids, { begin() {}, data() {}, end() {} }, new AbortController().signal), {
    name: 'TypeError',
  })
  t.strictSame(openIn(folder), [])
})
