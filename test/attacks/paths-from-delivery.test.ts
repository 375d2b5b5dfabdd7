/**
 * Paths received from the controller are validated where they are used: no answer, genuine or forged, leads outside the data directory.
 */
import t from 'tap'
import { changesReader, encodeEnd } from '../../runtime/content/protocol/frames.ts'
import type { Change } from '../../runtime/content/protocol/protocol.ts'
import type { RelativePath } from '../../runtime/api/values.ts'
import { desiredDelta, desiredTree } from '../../runtime/sync/desired/desired-tree.ts'
import { resolveMappings } from '../../runtime/sync/desired/mappings.ts'
import { throwsError } from '../support/assertions.ts'
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

void t.test('an answer with an unsafe path is rejected as damaged', async (t) => {
  for (const path of leadingOut) {
    for (const line of [
      { op: 'put', path, mode: '100644', id, size: 1 },
      { op: 'delete', path },
    ]) {
      throwsError(t, () => changesReader().take(`${JSON.stringify(line)}\n${encodeEnd(1)}`), { name: 'Fault' }, JSON.stringify(line))
    }
  }
  t.strictSame(changesReader().take(`${JSON.stringify({ op: 'delete', path: 'projects/..x/...' })}\n`), [
    { op: 'delete', path: 'projects/..x/...' },
  ])
})

void t.test('a source that returns an unsafe path gets no file written', async (t) => {
  const mappings = resolveMappings(profileOf([{ source: 'projects', destination: 'projects' }]), [], (text) => text)
  const put = (path: string) => ({ op: 'put', path: path as RelativePath, mode: '100644', id, size: 1 }) as Extract<Change, { op: 'put' }>
  for (const path of leadingOut.filter((path) => path.startsWith('projects/') && path !== 'projects/')) {
    throwsError(t, () => desiredTree(mappings).add(put(path)), { name: 'Fault' }, path)
    const present = { files: new Map(), absent: [], collectionsRoot: undefined }
    throwsError(t, () => desiredDelta([put(path)], mappings, present), { name: 'Fault' }, path)
  }
})
