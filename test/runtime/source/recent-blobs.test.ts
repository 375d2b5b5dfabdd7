import t from 'tap'
import type { CommitHash } from '../../../runtime/gatewaysync/values.ts'
import { rememberBlobs } from '../../../runtime/source/content/recent-blobs.ts'

const [first, second, third] = ['a', 'b', 'c'].map((letter) => letter.repeat(40) as CommitHash) as [CommitHash, CommitHash, CommitHash]
const text = (frames: readonly Uint8Array[] | undefined): string | undefined =>
  frames === undefined ? undefined : Buffer.concat(frames).toString('latin1')

void t.test('contents come back as git frames them, in the order of the question', async (t) => {
  const recent = rememberBlobs()
  recent.keep(first, Buffer.from('one'))
  recent.keep(second, Buffer.from(''))
  t.equal(text(recent.framed([second, first])), `${second} blob 0\n\n${first} blob 3\none\n`)
  t.same(recent.framed([]), [])
})

void t.test('where one is not remembered, all are read', async (t) => {
  const recent = rememberBlobs()
  recent.keep(first, Buffer.from('one'))
  t.equal(recent.framed([first, second]), undefined)
})

void t.test('no more is held than was said; what came first goes first', async (t) => {
  const recent = rememberBlobs(1_000)
  const content = Buffer.alloc(100)
  recent.keep(first, content)
  recent.keep(second, content)
  recent.keep(first, content)
  recent.keep(third, content)
  t.equal(recent.framed([second]), undefined)
  t.ok(recent.framed([first, third]))
  recent.keep(second, Buffer.alloc(1_000))
  t.equal(recent.framed([first]) ?? recent.framed([second]) ?? recent.framed([third]), undefined, 'one that is larger than all')
})
