import t from 'tap'
import { createObservations, type Observed } from '../../../../runtime/sync/plan/observed.ts'
import { findAliases, noAliases, respellRemoved } from '../../../../runtime/sync/plan/path-collisions.ts'

const file: Observed = { kind: 'file', stat: { size: 1, mtimeMs: 0, ino: 1, mode: 0o644 }, exec: false, id: undefined }

/** A volume that holds these files, in this spelling. */
function listing(...files: string[]) {
  return (folder: string): ReadonlySet<string> => {
    const prefix = folder === '' ? '' : `${folder}/`
    return new Set(files.filter((one) => one.startsWith(prefix)).map((one) => one.slice(prefix.length).split('/')[0] ?? ''))
  }
}

function aliases(put: string, removed: string, lists: ReturnType<typeof listing>, kinds: Record<string, Observed> = {}) {
  const observed = new Map(Object.entries({ [put]: file, [removed]: file, ...kinds }))
  const found = findAliases([put], [removed], observed, lists)
  return { files: [...found.files], folders: found.folders }
}

const none = { files: [], folders: [] }

void t.test('two spellings name one file where the folder lists only one of them', async (t) => {
  const onlyOld = listing('a/b')
  t.strictSame(aliases('a/B', 'a/b', onlyOld), { files: [['a/B', 'a/b']], folders: [] })
  t.strictSame(aliases('a/B', 'a/b', listing('a/b', 'a/B')), none, 'both are listed')
  t.strictSame(aliases('a/B', 'a/b', listing('a/B')), { files: [['a/B', 'a/b']], folders: [] }, 'the new one is listed')
  t.strictSame(aliases('a/c', 'a/b', onlyOld), none, 'another name')
  t.strictSame(aliases('a/b', 'a/b', onlyOld), none, 'the same spelling')
  t.strictSame(aliases('a/B', 'a/b', onlyOld, { 'a/B': { kind: 'absent', topmost: 'a/B' } }), none, 'nothing is at the new one')
  t.strictSame(aliases('a/B', 'a/b', onlyOld, { 'a/b': { kind: 'absent', topmost: 'a/b' } }), none, 'nothing is at the old one')
  t.strictSame(aliases('a/STRASSE', 'a/straße', listing('a/straße')).files, [['a/STRASSE', 'a/straße']], 'equal in upper case only')
  t.equal(findAliases(['a/B'], [], new Map(), onlyOld), noAliases)
})

void t.test('the topmost folder that changes its spelling is named once', async (t) => {
  const lists = listing('x/a/b/c', 'x/a/b/d')
  t.strictSame(aliases('x/A/b/c', 'x/a/b/c', lists), { files: [['x/A/b/c', 'x/a/b/c']], folders: [{ from: 'x/a', to: 'x/A' }] })
  t.strictSame(aliases('X/a/B/C', 'x/a/b/c', lists).folders, [{ from: 'x', to: 'X' }])
  t.strictSame(aliases('x/A/b/c', 'x/a/b/c', listing('x/a/b/c', 'x/A/b/c')), none, 'both folders exist')
  const [puts, removed] = [
    ['x/A/b/c', 'x/A/b/d'],
    ['x/a/b/c', 'x/a/b/d'],
  ]
  const found = findAliases(puts, removed, new Map([...puts, ...removed].map((path) => [path, file])), lists)
  t.strictSame([[...found.files.keys()], found.folders], [puts, [{ from: 'x/a', to: 'x/A' }]])
})

void t.test('an obstacle that is to be deleted gets the spelling of the records', async (t) => {
  const respelled = (removed: string[], lists: ReturnType<typeof listing>, going: Observed = file) => {
    const observed = createObservations()
    observed.set('a/b/c', { kind: 'under-file', file: 'a/b' })
    observed.set('a/d', { kind: 'folder', files: ['a/d/e', 'a/d/f'] })
    observed.set('a/x', file)
    for (const path of removed) observed.set(path, going)
    respellRemoved(observed, removed, lists)
    return [observed.get('a/b/c'), observed.get('a/d'), observed.get('a/x')]
  }
  const same = [{ kind: 'under-file', file: 'a/b', spelled: 'a/b' }, { kind: 'folder', files: ['a/d/e', 'a/d/f'] }, file]
  const [old, both] = [listing('A/B', 'A/D/e'), listing('A/B', 'a/b', 'A/D/e', 'a/d/e')]
  t.strictSame(respelled(['A/B', 'A/D/e'], old), [
    { kind: 'under-file', file: 'a/b', spelled: 'A/B' },
    { kind: 'folder', files: ['A/D/e', 'a/d/f'] },
    file,
  ])
  t.strictSame(respelled(['A/B', 'A/D/e'], both), same, 'two folders')
  t.strictSame(respelled(['A/B', 'A/D/e'], old, { kind: 'absent', topmost: 'A' }), same, 'a file that is not there')
  t.strictSame(respelled(['A/Z'], old), same, 'another file')
  t.strictSame(respelled([], old), [{ kind: 'under-file', file: 'a/b' }, ...same.slice(1)], 'nothing is deleted')
})
