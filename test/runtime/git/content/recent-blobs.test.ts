import t from 'tap'
import type { CommitHash } from '../../../../runtime/api/values.ts'
import { rememberBlobs } from '../../../../runtime/git/content/recent-blobs.ts'

const [first, second, third] = ['a', 'b', 'c'].map((letter) => letter.repeat(40) as CommitHash) as [CommitHash, CommitHash, CommitHash]
const text = (frames: readonly Uint8Array[] | undefined): string | undefined =>
  frames === undefined ? undefined : Buffer.concat(frames).toString('latin1')

void t.test("contents are returned in git's frame format, in the order of the query", async (t) => {
  const recent = rememberBlobs()
  recent.keep('plant', first, Buffer.from('one'))
  recent.keep('plant', second, Buffer.from(''))
  t.equal(text(recent.framed([second, first])), `${second} blob 0\n\n${first} blob 3\none\n`)
  t.strictSame(recent.framed([]), [])
})

void t.test('if one blob is not cached, all are read', async (t) => {
  const recent = rememberBlobs()
  recent.keep('plant', first, Buffer.from('one'))
  t.equal(recent.framed([first, second]), undefined)
})

void t.test('the cache keeps to its limit, and the least recently kept blobs are evicted first', async (t) => {
  const recent = rememberBlobs(1_000)
  const content = Buffer.alloc(100)
  recent.keep('plant', first, content)
  recent.keep('plant', second, content)
  recent.keep('plant', first, content)
  recent.keep('plant', third, content)
  t.equal(recent.framed([second]), undefined)
  t.ok(recent.framed([first, third]))
  recent.keep('plant', second, Buffer.alloc(1_000))
  t.equal(recent.framed([second]), undefined, 'one that is larger than all is not kept')
  t.ok(recent.framed([first, third]))
})

void t.test('the blobs of one namespace do not displace those of another', async (t) => {
  const recent = rememberBlobs(1_000)
  recent.keep('quiet', first, Buffer.alloc(100))
  for (const letter of ['b', 'c', 'd', 'e', 'f']) recent.keep('loud', letter.repeat(40) as CommitHash, Buffer.alloc(100))
  t.ok(recent.framed([first]))
})
