/**
 * Paths that come over the wire are judged where they are used: no answer of a controller, true or false, names a place outside of the data
 * directory.
 */
import t from 'tap'
import { changesReader, encodeEnd } from '../../runtime/delivery/frames.ts'
import type { Change } from '../../runtime/delivery/protocol.ts'
import type { RelativePath } from '../../runtime/gatewaysync/values.ts'
import { desiredDelta, desiredTree } from '../../runtime/sync/desired/desired-tree.ts'
import { resolveMappings } from '../../runtime/sync/desired/mappings.ts'
import { profileOf } from '../support/memory-source.ts'

const id = 'a'.repeat(40)
const leadingOut = [
  '',
  '/',
  '/etc/passwd',
  '../x',
  'projects/../config/local/y',
  'projects/..',
  'projects//x',
  'projects/./x',
  'projects/x\0y',
  'projects/',
]

void t.test('an answer with a path that leads elsewhere is damaged', async (t) => {
  for (const path of leadingOut) {
    for (const line of [
      { op: 'put', path, mode: '100644', id, size: 1 },
      { op: 'delete', path },
    ]) {
      t.throws(() => changesReader().take(`${JSON.stringify(line)}\n${encodeEnd(1)}`), { name: 'Fault' }, JSON.stringify(line))
    }
  }
  t.same(changesReader().take(`${JSON.stringify({ op: 'delete', path: 'projects/..x/...' })}\n`), [
    { op: 'delete', path: 'projects/..x/...' },
  ])
})

void t.test('a source that gives such a path gets no file for it', async (t) => {
  const mappings = resolveMappings(profileOf([{ source: 'projects', destination: 'projects' }]), [], (text) => text)
  const put = (path: string) => ({ op: 'put', path: path as RelativePath, mode: '100644', id, size: 1 }) as Extract<Change, { op: 'put' }>
  for (const path of leadingOut.filter((path) => path.startsWith('projects/') && path !== 'projects/')) {
    t.throws(() => desiredTree(mappings).add(put(path)), { name: 'Fault' }, path)
    const present = { files: new Map(), absent: [], collectionsRoot: undefined }
    t.throws(() => desiredDelta([put(path)], mappings, present), { name: 'Fault' }, path)
  }
})
