/**
 * Tests what is shown of a plan: its changes in the order of their paths, with lines within limits.
 */
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import type { Prepared } from '../../../../runtime/sync/plan/make-plan.ts'
import { diffPlan, diffText, type DiffLimits, type FileDiff } from '../../../../runtime/sync/plan/preview.ts'
import { blobIdOf } from '../../../../runtime/sync/model/manifest.ts'
import { desiredOf, memorySource, profileOf } from '../../../support/memory-source.ts'
import { temporaryFolder } from '../../../support/repository.ts'

const wide: DiffLimits = { files: 10, fileBytes: 100, totalBytes: 1_000 }

void t.test('changes are listed by path, with their lines as long as the limits of files, of a file and of all bytes permit', async (t) => {
  const dataDir = temporaryFolder(t, 'preview')
  mkdirSync(path.join(dataDir, 'config'))
  writeFileSync(path.join(dataDir, 'config/b'), 'old\n')
  const source = memorySource()
  const tree = { 'config/a': 'new a\n', 'config/b': 'new b\n', 'config/c': 'new c longer\n', 'config/d': 'new d\n' }
  const profile = profileOf([{ source: 'config', destination: 'config' }])
  const commit = source.commit(tree)
  const puts = Object.entries(tree).map(([file, text]) => ({
    path: file,
    id: blobIdOf(commit as never, Buffer.from(text)),
    size: text.length,
    exec: false,
    mapping: 0,
    before: file === 'config/b' ? 'file' : 'absent',
    topmost: file,
  }))
  const prepared = { plan: { puts, deletes: [{ path: 'config/ab' }] }, diff: { mappings: [] }, renderer: undefined } as unknown as Prepared
  const show = async (limits: Partial<DiffLimits>) => {
    const shown = await diffPlan(source, desiredOf(dataDir, commit, profile), prepared, { ...wide, ...limits }, AbortSignal.timeout(30_000))
    return shown.map(({ op, path: file, diff }) => [op, file.slice('config/'.length), diff])
  }
  const [a, b, c, d] = ['+new a', '-old\n+new b', '+new c longer', '+new d']
  const listed = (...diffs: (string | undefined)[]) => [
    ['add', 'a', diffs[0]],
    ['remove', 'ab', undefined],
    ['change', 'b', diffs[1]],
    ['add', 'c', diffs[2]],
    ['add', 'd', diffs[3]],
  ]
  t.strictSame(await show({}), listed(a, b, c, d))
  t.strictSame(await show({ files: 2 }), listed(a, b))
  t.strictSame(await show({ files: 0 }), listed())
  t.strictSame(await show({ fileBytes: 13 }), listed(a, b, c, d), 'a file as large as the limit')
  t.strictSame(await show({ fileBytes: 12 }), listed(a, b, undefined, d), 'a file that is larger is only named')
  t.strictSame(await show({ totalBytes: 25 }), listed(a, b, c), 'as many bytes as the limit')
  t.strictSame(await show({ totalBytes: 24 }), listed(a, b), 'nothing behind a file over the limit')
})

void t.test('a text shows one line per file and its differences below, and ends after a whole line', async (t) => {
  const changes: FileDiff[] = [
    { op: 'add', path: 'a', diff: '+one\n+two\n' },
    { op: 'change', path: 'b\n', diff: '-\u001b[31m\n' },
    { op: 'remove', path: 'c' },
  ]
  const text = diffText(changes)
  t.strictSame(text.split('\n').toSpliced(4, 1), ['+ a', '    +one', '    +two', '~ b\\n', '- c'])
  t.equal(text.includes('\u001b'), false, 'no control character')
  const last = '… more is not shown'
  const most = `+ a\n    +one\n${last}`
  t.equal(diffText(changes.slice(0, 1), most.length + 1), most)
  t.equal(diffText(changes.slice(0, 1), most.length), `+ a\n${last}`)
  t.equal(diffText(changes, 1), last)
  t.equal(diffText([]), '')
})
