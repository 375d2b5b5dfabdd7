import t from 'tap'
import type { Change } from '../../../../runtime/content/protocol/protocol.ts'
import { parseCommitHash, parseRelativePath, type CommitHash } from '../../../../runtime/api/values.ts'
import { rememberListedBlobs, rememberBlobs } from '../../../../runtime/git/content/remembered-blobs.ts'

const hash = (number: number) => parseCommitHash(number.toString(16).padStart(40, '0'))
const roots = [parseRelativePath('projects')]

function puts(from: number, count: number): Change[] {
  return Array.from({ length: count }, (_, index) => ({
    op: 'put' as const,
    path: parseRelativePath(`projects/${index}`),
    mode: '100644' as const,
    id: hash(from + index),
    size: 1,
  }))
}

void t.test('a blob counts as listed for its own commit and folders only', (t) => {
  const listed = rememberListedBlobs()
  listed.add('plant', hash(1), roots, puts(100, 2))
  listed.add('plant', hash(1), roots, [{ op: 'delete', path: parseRelativePath('projects/gone') }, ...puts(102, 1)])
  t.ok(listed.includesAll(hash(1), roots, [hash(100), hash(101), hash(102)]))
  t.notOk(listed.includesAll(hash(1), roots, [hash(100), hash(103)]))
  t.notOk(listed.includesAll(hash(2), roots, [hash(100)]))
  t.notOk(listed.includesAll(hash(1), [parseRelativePath('config')], [hash(100)]))
  t.end()
})

void t.test('a submodule is not a blob', (t) => {
  const listed = rememberListedBlobs()
  listed.add('plant', hash(1), roots, [{ op: 'put', path: parseRelativePath('projects/sub'), mode: '160000', id: hash(7), size: 0 }])
  t.notOk(listed.includesAll(hash(1), roots, [hash(7)]))
  t.end()
})

void t.test('beyond 50,000 blobs the least recently listed are evicted across all mirrors', (t) => {
  const listed = rememberListedBlobs()
  for (const commit of [1, 2, 3]) listed.add('plant', hash(commit), roots, puts(commit * 100_000, 20_000))
  t.notOk(listed.includesAll(hash(1), roots, [hash(100_000)]))
  t.ok(listed.includesAll(hash(2), roots, [hash(200_000)]))
  t.ok(listed.includesAll(hash(3), roots, [hash(300_000), hash(319_999)]))
  listed.add('plant', hash(4), roots, puts(400_000, 60_000))
  t.notOk(listed.includesAll(hash(4), roots, [hash(400_000)]), 'one that is too large alone is not remembered')
  t.ok(listed.includesAll(hash(3), roots, [hash(300_000)]))
  t.end()
})

void t.test('the listings of one namespace do not displace those of another', (t) => {
  const listed = rememberListedBlobs()
  listed.add('quiet', hash(1), roots, puts(100, 1))
  for (const commit of [2, 3, 4, 5]) listed.add('loud', hash(commit), roots, puts(commit * 100_000, 20_000))
  t.ok(listed.includesAll(hash(1), roots, [hash(100)]))
  t.end()
})

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
