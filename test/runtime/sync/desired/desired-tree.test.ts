import t from 'tap'
import type { BlobId, Change } from '../../../../runtime/content/protocol/protocol.ts'
import { parseRelativePath } from '../../../../runtime/api/values.ts'
import { type DesiredTree, desiredDelta, desiredTree } from '../../../../runtime/sync/desired/desired-tree.ts'
import { resolveMappings } from '../../../../runtime/sync/desired/mappings.ts'
import type { Owned } from '../../../../runtime/sync/model/manifest.ts'
import { matchObject, throwsError } from '../../../support/assertions.ts'
import { profileOf } from '../../../support/memory-source.ts'

type Put = Extract<Change, { op: 'put' }>
type Mappings = Parameters<typeof profileOf>[0]

const idOf = (content: string): BlobId => content.repeat(40).slice(0, 40) as BlobId

function put(path: string, content = 'a', mode: Put['mode'] = '100644'): Put {
  return { op: 'put', path: parseRelativePath(path), mode, id: idOf(content), size: 1 }
}

const deletion = (path: string): Change => ({ op: 'delete', path: parseRelativePath(path) })
const mappingsOf = (mappings: Mappings) => resolveMappings(profileOf(mappings), [], (text) => text)

function treeOf(mappings: Mappings, listing: readonly Put[]): DesiredTree {
  const tree = desiredTree(mappingsOf(mappings))
  for (const entry of listing) tree.add(entry)
  return tree.finish()
}

const projects = { source: 'projects', destination: 'projects' }
const paths = ({ files }: { files: ReadonlyMap<string, unknown> }): string[] => [...files.keys()].toSorted()
const rules = ({ findings }: Pick<DesiredTree, 'findings'>): string[] => findings.map(({ rule, path }) => `${rule} ${path}`)

void t.test('a file below a source is desired below the destination, with its blob and mode', async (t) => {
  const { files } = treeOf(
    [{ source: 'site/projects', destination: 'projects' }],
    [put('site/projects/a.sh', 'b', '100755'), put('other/b')],
  )
  t.strictSame([...files.values()], [{ path: 'projects/a.sh', id: idOf('b'), size: 1, exec: true, mapping: 0 }])
})

void t.test('if two mappings target one path the later one wins, for any listing order', async (t) => {
  const mappings = [
    { source: 'base', destination: 'projects' },
    { source: 'over', destination: 'projects' },
  ]
  const listing = [put('base/a', '1'), put('base/b', '1'), put('over/a', '2')]
  for (const given of [listing, listing.toReversed()]) {
    const { files } = treeOf(mappings, given)
    matchObject(t, files.get('projects/a'), { id: idOf('2'), mapping: 1 })
    matchObject(t, files.get('projects/b'), { id: idOf('1'), mapping: 0 })
  }
})

void t.test('special files and files of the gateway are not delivered, with a finding', async (t) => {
  const tree = treeOf(
    [{ source: 'data', destination: '.' }],
    [put('data/ok'), put('data/link', 'a', '120000'), put('data/sub', 'a', '160000'), put('data/db/config.idb'), put('data/\uFFFD')],
  )
  t.strictSame(paths(tree), ['ok'])
  t.strictSame(rules(tree), [
    'symbolic-link data/link',
    'submodule data/sub',
    'forbidden-destination data/db/config.idb',
    'name-not-utf8 data/\uFFFD',
  ])
})

void t.test('a missing required source is refused, and a missing optional one is a finding', async (t) => {
  throwsError(t, () => treeOf([projects], []), { reason: 'SourcePathMissing', message: /no "projects"/ })
  const tree = treeOf(
    [
      { ...projects, required: false },
      { source: 'config', destination: 'config' },
    ],
    [put('config/a')],
  )
  t.strictSame(tree.absent, [0])
  t.strictSame(rules(tree), ['source-absent projects'])
})

void t.test('a file mapped as a folder, or a folder as a file, is refused with the setting to change', async (t) => {
  throwsError(t, () => treeOf([{ source: 'a', destination: 'a' }], [put('a')]), { reason: 'InvalidSpec', message: /set type: File/ })
  throwsError(t, () => treeOf([{ source: 'a', destination: 'a', type: 'File' }], [put('a/b')]), {
    reason: 'InvalidSpec',
    message: /set type: Directory/,
  })
})

void t.test('a submodule as the source of a mapping is refused as such, for any type', async (t) => {
  for (const type of ['Directory', 'File'] as const)
    throwsError(t, () => treeOf([{ source: 'a', destination: 'a', type }], [put('a', 'a', '160000')]), {
      reason: 'InvalidSpec',
      message:
        /: source "a" is a submodule, whose files are not delivered; name a folder of this repository, or set spec\.git\.repo to that one$/,
    })
})

/** The result of a difference if these paths are managed by the first mapping. */
function deltaOf(
  mappings: Mappings,
  owned: readonly string[],
  changes: readonly Change[],
  more: { absent?: number[]; root?: string } = {},
) {
  const stat = { size: 1, mtimeMs: 0, ino: 0, mode: 0o644 }
  const entry: Owned = { id: idOf('a'), exec: false, mapping: 0, stat, rendered: undefined, driftVerdict: undefined }
  return desiredDelta(changes, mappingsOf(mappings), {
    files: new Map(owned.map((path) => [path, entry])),
    absent: more.absent ?? [],
    collectionsRoot: more.root === undefined ? undefined : parseRelativePath(more.root),
  })
}

void t.test('a difference determines writes and deletions if the mappings alone decide', async (t) => {
  const delta = deltaOf(
    [projects],
    ['projects/a', 'projects/b', 'projects/c'],
    [put('projects/a', 'b'), deletion('projects/b'), put('other/x')],
  )
  matchObject(t, delta, { kind: 'delta', removed: new Set(['projects/b']) })
  t.strictSame(delta.kind === 'delta' ? [...delta.puts.keys()] : [], ['projects/a'])
})

void t.test('a difference that is not sufficient requires the whole listing', async (t) => {
  const two = [projects, { source: 'over', destination: 'projects' }]
  const rows: [string, ReturnType<typeof deltaOf>, RegExp][] = [
    [
      'another mapping may contain the file',
      deltaOf(two, ['projects/a', 'projects/b'], [deletion('projects/a')]),
      /another mapping may contain/,
    ],
    ['a source is there again', deltaOf([projects], [], [put('projects/a')], { absent: [0] }), /has a source again/],
    ['the last file of a source goes', deltaOf([projects], ['projects/a'], [deletion('projects/a')]), /may have no source left/],
    [
      'the parents of a collection change',
      deltaOf([projects], [], [put('services/dev/config-mode.json')], { root: 'services' }),
      /may change which collections are read/,
    ],
  ]
  for (const [name, delta, why] of rows) matchObject(t, delta, { kind: 'needs-listing', why }, name)
})

void t.test('an identity in core is a finding unless every delivered mode overrides it', async (t) => {
  const everything = [{ source: 'resources', destination: 'config/resources' }]
  const core = 'resources/core/ignition/system-properties/config.json'
  const rows: [string, string[], number][] = [
    ['core alone', [core], 1],
    ['a mode overrides it', [core, 'resources/dev/ignition/system-properties/resource.json'], 0],
    [
      'one of two modes overrides it',
      [core, 'resources/dev/ignition/system-properties/resource.json', 'resources/prod/config-mode.json'],
      1,
    ],
    ['a mode overrides another resource', [core, 'resources/dev/ignition/tag-provider/config.json'], 1],
    ['what core overrides itself', [core, 'resources/external/ignition/system-properties/config.json'], 1],
  ]
  for (const [name, paths, told] of rows) {
    const tree = desiredTree(mappingsOf(everything))
    for (const path of paths) tree.add(put(path))
    t.equal(tree.finish().findings.length, told, name)
    const others = paths.slice(1).map((path) => path.replace('resources', 'config/resources'))
    const delta = deltaOf(everything, others, [put(core)])
    t.equal(delta.kind === 'delta' && delta.findings.length, told, `${name}, of a difference`)
  }
})
