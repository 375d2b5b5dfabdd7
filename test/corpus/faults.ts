/**
 * Every rule's fault, once in each place of a plant where it can occur: in each collection, each type of resource, each project.
 */
import type { RuleId } from '../../runtime/validation/rules/rules.ts'
import { config, type Files, modeJson, resource, root } from '../support/collection-tree.ts'
import { embedded, pages, perspective, projectJson, projectRoot, view } from '../support/project-tree.ts'

/** The changed files, `null` for a deleted one, and the path that the finding must have. */
export type Seed = { changes: Record<string, string | null>; path: string }

const put = (path: string, content: string, found = path): Seed => ({ changes: { [path]: content }, path: found })
const add = (folder: string, more: Files): Seed => ({ changes: more, path: `${root}/${folder}` })
const folderOf = (path: string): string => path.slice(0, path.lastIndexOf('/'))
const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
const parsed = (text: string): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>
const text = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`

/** One file for each kind of place: collection or project, module, type and name of the file. */
function places(files: Files, isDesired: (path: string) => boolean): string[] {
  const found = new Map<string, string>()
  for (const path of Object.keys(files).filter(isDesired)) {
    const base = path.startsWith(`${root}/`) ? root : projectRoot
    const [owner, module, type] = path.slice(base.length + 1).split('/')
    const kind = `${base} ${base === root ? owner : ''} ${module} ${type} ${nameOf(path)}`
    if (!found.has(kind)) found.set(kind, path)
  }
  return [...found.values()]
}

const isJson = (path: string): boolean => path.endsWith('.json')
const isManifest = (path: string): boolean => /\/(?:unary-)?resource\.json$/.test(path)
const isMode = (path: string): boolean => path.endsWith('/config-mode.json')
const isProject = (path: string): boolean => path.endsWith('/project.json')
const isSource = (path: string): boolean => /\.(?:py|sql)$/.test(path)
const isInCollection = (path: string): boolean => path.startsWith(`${root}/`)

/** Damage of the content of each kind of file. */
function damaged(files: Files, isDesired: (path: string) => boolean, damage: (content: string) => string): Seed[] {
  return places(files, isDesired).map((path) => put(path, damage(files[path] ?? '')))
}

/** A manifest with one change, for each kind of resource. */
function manifests(
  files: Files,
  change: (manifest: Record<string, unknown>) => object,
  at: (path: string) => string = (path) => path,
): Seed[] {
  return places(files, isManifest).map((path) => put(path, text(change(parsed(files[path] ?? '{}'))), at(path)))
}

function modes(
  files: Files,
  change: (manifest: Record<string, unknown>) => object,
  isDesired: (name: string) => boolean = () => true,
): Seed[] {
  const desired = Object.keys(files).filter((path) => isMode(path) && isDesired(nameOf(folderOf(path))))
  return desired.map((path) => put(path, text({ ...parsed(files[path] ?? '{}'), ...change(parsed(files[path] ?? '{}')) })))
}

function projects(files: Files, change: (manifest: Record<string, unknown>, name: string) => object | undefined): Seed[] {
  return Object.keys(files)
    .filter(isProject)
    .flatMap((path) => {
      const changed = change(parsed(files[path] ?? '{}'), nameOf(folderOf(path)))
      return changed === undefined ? [] : [put(path, text({ ...parsed(files[path] ?? '{}'), ...changed }))]
    })
}

const userModes = ['dev', 'Test', 'prod']
const everywhere = ['core', ...userModes]
const inEach = (collections: readonly string[], folder: string, value: object): Seed[] =>
  collections.map((name) => add(`${name}/${folder}`, resource(`${name}/${folder}`, config({ ...value, in: name }))))
const journal = (name: string): Seed =>
  add(
    `${name}/ignition/alarm-journal/Second`,
    resource(`${name}/ignition/alarm-journal/Second`, config({ settings: { datasource: 'Gone' } })),
  )
const conflict = (content: string): string => `<<<<<<< HEAD\n${content}\n=======\n${content}\n>>>>>>> other\n`

export function seedsOf(files: Files): Record<RuleId, Seed[]> {
  const manifestless = (path: string): Seed => ({ changes: { [path]: null }, path: folderOf(path) })
  return {
    'missing-config-mode': Object.keys(files)
      .filter(isMode)
      .filter((path) => Object.keys(files).some((other) => other.startsWith(`${folderOf(path)}/i`)))
      .map(manifestless),
    'invalid-config-mode': damaged(files, isMode, () => '[]'),
    'unknown-collection-key': modes(files, () => ({ inheritible: true })),
    'unknown-parent': modes(files, () => ({ parent: 'gone' })),
    'unexpected-parent': modes(
      files,
      () => ({ parent: 'system' }),
      (name) => name === 'core',
    ),
    'parent-cycle': modes(
      files,
      () => ({ parent: 'dev' }),
      (name) => name === 'dev',
    ),
    'parent-disabled': [
      {
        changes: { [`${root}/core/config-mode.json`]: modeJson('Core', 'external', { enabled: false }) },
        path: `${root}/dev/config-mode.json`,
      },
    ],
    'parent-not-inheritable': [
      {
        changes: { [`${root}/core/config-mode.json`]: modeJson('Core', 'external', { inheritable: false }) },
        path: `${root}/prod/config-mode.json`,
      },
    ],
    'collection-disabled': modes(
      files,
      () => ({ enabled: false }),
      (name) => name === 'prod' || name === 'Test',
    ),
    'mode-without-folder': [],
    'reserved-collection': [put(`${root}/system/config-mode.json`, modeJson('System', 'core'), `${root}/system`)],
    'singleton-only-in-mode': inEach(userModes, 'ignition/cobranding', {}),
    'singleton-with-name': inEach(everywhere, 'ignition/cobranding/mine', {}),
    'misplaced-type': everywhere.map((name) =>
      add(`${name}/ignition/databse-connection`, resource(`${name}/ignition/databse-connection/a`, config({}))),
    ),
    'missing-name-folder': inEach(everywhere, 'ignition/database-connection', {}),
    'name-too-deep': inEach(everywhere, 'ignition/schedule/shifts/day', {}),
    'belongs-in-mode': ['core', 'external'].flatMap((name) =>
      [
        'alarm-journal/Other',
        'identity-provider/Other',
        'user-source/Other',
        'gateway-network-outgoing/Other',
        'database-connection/Other',
      ].flatMap((folder) => inEach([name], `ignition/${folder}`, { profile: {} })),
    ),
    'host-or-credential-shared': inEach(['core', 'external'], 'ignition/email-profile/shift', {
      settings: { hostname: 'mail.example.com' },
    }),
    'plain-credential': inEach(userModes, 'com.example.module/server/a', { settings: { clientSecret: 'hunter2' } }),
    'key-committed': ['root.json', 'kek.json'].map((name) => put(`${folderOf(root)}/ignition/keys/${name}`, '{}')),
    'shared-resource-in-mode': userModes.map((name) =>
      add(
        `${name}/ignition/tag-definition`,
        resource(`${name}/ignition/tag-definition/Line/Hall 9`, { 'tags.json': '[]' }, { manifest: 'unary-resource.json' }),
      ),
    ),
    'missing-reference': [
      ...everywhere.map(journal),
      ...inEach(['core'], 'ignition/email-profile/shift', {
        password: { type: 'Referenced', data: { providerName: 'gone', secretName: 'smtp' } },
      }),
      ...inEach(['core'], 'ignition/identity-provider/Second', { settings: { userSource: 'stuff' } }),
      ...inEach(['core'], 'ignition/tag-provider/Hall', { settings: { defaultDatasourceName: 'Gone' } }),
    ],
    'unknown-tag-type': damaged(
      files,
      (path) => path.includes('/tag-definition/') && path.endsWith('/udts.json'),
      () => '[{"name":"M","tagType":"UdtInstance","typeId":"Gone"}]',
    ).map((seed) => ({ ...seed, path: folderOf(seed.path) })),
    'duplicate-uuid': [
      {
        ...add(
          'core/ignition/schedule/Day copy',
          resource('core/ignition/schedule/Day copy', config({}), { attributes: { uuid: '00000000-0000-4000-8000-000000000002' } }),
        ),
      },
    ],
    'same-value-in-modes': [
      {
        ...add(
          'prod/com.inductiveautomation.opcua/device/PLC 0',
          resource('prod/com.inductiveautomation.opcua/device/PLC 0', config({ settings: { hostname: '10.1.4.1', port: 502 } })),
        ),
      },
    ],
    'invalid-resource-json': damaged(files, isManifest, () => '[]'),
    'merge-conflict': [...damaged(files, (path) => isJson(path) || isSource(path), conflict)],
    'zero-bytes': damaged(
      files,
      (path) => isJson(path) || isSource(path),
      (content) => '\0'.repeat(content.length + 1),
    ),
    'not-utf-8': damaged(
      files,
      (path) => isJson(path) || isSource(path),
      (content) => Buffer.from(content, 'utf16le') as unknown as string,
    ),
    'byte-order-mark': damaged(files, isJson, (content) => `\uFEFF${content}`),
    'empty-file': damaged(files, isJson, () => ''),
    'truncated-json': damaged(
      files,
      (path) => isJson(path) && !isManifest(path) && !isMode(path) && !isProject(path),
      (content) => content.trimEnd().slice(0, -1),
    ),
    'invalid-json': damaged(
      files,
      (path) => isJson(path) && !isManifest(path) && !isMode(path) && !isProject(path),
      () => '{"a":yes}',
    ),
    'duplicate-key': damaged(
      files,
      (path) => isJson(path) && files[path]?.trimStart().startsWith('{') === true,
      (content) => content.replace('{', '{"a":1,"a":2,').replace(/,\s*\}$/, '}'),
    ),
    'missing-attributes': manifests(files, ({ attributes: _gone, ...rest }) => rest),
    'invalid-manifest-field': [
      ...manifests(files, (manifest) => ({ ...manifest, scope: 'X' })),
      ...manifests(files, (manifest) => ({ ...manifest, version: '1' })),
      ...manifests(files, (manifest) => ({ ...manifest, overridable: 'false' })),
      ...manifests(files, (manifest) => ({ ...manifest, attributes: { lastModification: { actor: 'plant' } } })),
    ],
    'listed-file-missing': manifests(files, (manifest) => ({ ...manifest, files: [...(manifest['files'] as string[]), 'gone.json'] })),
    'nested-copy': [
      put(`${root}/core/core/config-mode.json`, modeJson('Core', 'external'), `${root}/core/core`),
      put(`${root}/resources/core/config-mode.json`, modeJson('Core', 'external'), `${root}/resources/core`),
      put(`${projectRoot}/Base/Base/project.json`, projectJson('Base', 'Library'), `${projectRoot}/Base/Base`),
    ],
    'missing-singletons': ['system-properties', 'security-properties', 'general-alarm-settings'].map((name) => ({
      changes: { [`${root}/core/ignition/${name}/resource.json`]: null, [`${root}/core/ignition/${name}/config.json`]: null },
      path: `${root}/core`,
    })),
    'machine-identity-shared': [
      ...['uuid', 'server-keystore', 'client-keystore'].flatMap((name) =>
        inEach(['core', 'external'], `com.inductiveautomation.opcua/${name}`, {}),
      ),
      ...inEach(['core'], 'ignition/gateway-network-settings', { systemUID: '5b1e' }),
    ],
    'tag-type-cycle': damaged(
      files,
      (path) => path.includes('/tag-type-definition/') && path.endsWith('/udts.json'),
      () => '[{"name":"A","tagType":"UdtType","typeId":"B"},{"name":"B","tagType":"UdtType","typeId":"A"}]',
    ).map((seed) => ({ ...seed, path: folderOf(seed.path) })),
    'repeated-tag': damaged(
      files,
      (path) => path.includes('/tag-definition/') && path.endsWith('/tags.json'),
      () => '[{"name":"A","tagType":"AtomicTag"},{"name":"A","tagType":"AtomicTag"}]',
    ).map((seed) => ({ ...seed, path: folderOf(seed.path) })),
    'wrong-shape': [
      ...damaged(
        files,
        (path) => /\/(?:config|users|view)\.json$/.test(path),
        () => '[]',
      ),
      ...damaged(
        files,
        (path) => /\/(?:tags|udts)\.json$/.test(path),
        () => '{}',
      ),
    ],
    'broken-secret': everywhere.flatMap((name) =>
      [
        { type: 'Embedded', data: 'hunter2' },
        { type: 'Embedded', data: { ciphertext: 'a', iv: 'b', protected: 'c', tag: 'd' } },
      ].map((password, index) =>
        add(
          `${name}/com.example.module/server/${index}/config.json`,
          resource(`${name}/com.example.module/server/${index}`, config({ password })),
        ),
      ),
    ),
    'view-without-root': damaged(
      files,
      (path) => path.endsWith('/view.json'),
      () => '{"custom":{},"params":{}}',
    ),
    'resource-in-resource': places(files, (path) => path.endsWith('/code.py')).map((path) =>
      put(`${folderOf(path)}/below/resource.json`, text({ scope: 'A', version: 1, files: [], attributes: {} }), folderOf(path)),
    ),
    'unlisted-file': places(files, isManifest).map((path) => put(`${folderOf(path)}/notes.txt`, 'x')),
    'lfs-pointer': damaged(
      files,
      (path) => /\.(?:png|css|py|json)$/.test(path) && !isMode(path) && !isProject(path),
      () => `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 1\n`,
    ),
    'encrypted-file': [
      ...damaged(
        files,
        (path) => /\.(?:png|css|py|json)$/.test(path),
        (content) => `\0GITCRYPT\0${content}`,
      ),
      ...damaged(
        files,
        (path) =>
          isJson(path) && !isManifest(path) && !isMode(path) && !isProject(path) && files[path]?.trimStart().startsWith('{') === true,
        () => '{"rate":"ENC[AES256_GCM,data:x,type:int]","sops":{"mac":"ENC[AES256_GCM,data:y,type:str]"}}',
      ),
    ],
    'missing-resource-json': places(files, (path) => /\/(?:view\.json|code\.py|query\.sql)$/.test(path)).map((path) =>
      manifestless(`${folderOf(path)}/resource.json`),
    ),
    'stale-signature': damaged(
      files,
      (path) => isInCollection(path) && /\/(?:config|tags|users)\.json$/.test(path),
      (content) => `${content} `,
    ).map((seed) => ({
      ...seed,
      path: Object.keys(files).find((path) => isManifest(path) && folderOf(path) === folderOf(seed.path)) ?? '',
    })),
    'override-identical': userModes.map((name) =>
      add(`${name}/ignition/security-levels`, resource(`${name}/ignition/security-levels`, config({ levels: [] }))),
    ),
    'override-forbidden': [
      {
        changes: resource('core/ignition/system-properties', config({ systemName: 'plant' }), { more: { overridable: false } }),
        path: `${root}/dev/ignition/system-properties`,
      },
    ],
    'first-boot-conflict': [],
    'hidden-in-external': inEach(['external'], 'ignition/security-properties', {}),
    'cache-committed': [put(`${root}/.resources/0a`, 'x', `${root}/.resources`)],
    'local-committed': [put(`${root}/local/config-mode.json`, modeJson('Local', 'core', { inheritable: false }), `${root}/local`)],
    'forbidden-name': inEach(everywhere, 'ignition/images/a:b', {}),
    'case-collision': [
      { ...inEach(['core'], 'ignition/SCHEDULE/day', {})[0], path: `${root}/core/ignition/schedule/Day` } as Seed,
      put(`${projectRoot}/LINE A/project.json`, projectJson('Other', 'Base'), `${projectRoot}/Line a`),
    ],
    'orphan-file': everywhere.map((name) => put(`${root}/${name}/ignition/notes.txt`, 'x')),
    'missing-project-json': Object.keys(files).filter(isProject).map(manifestless),
    'invalid-project-json': [...damaged(files, isProject, () => '[]'), ...projects(files, () => ({ enabled: 'yes' }))],
    'unknown-project-parent': projects(files, () => ({ parent: 'Gone' })),
    'project-parent-not-inheritable': projects(files, (_manifest, name) => (name === 'Line a' ? undefined : { parent: 'Line a' })).filter(
      ({ path }) => path.startsWith(projectRoot),
    ),
    'project-cycle': projects(files, (_manifest, name) => ({ parent: name })),
    'same-project-title': [put(`${projectRoot}/Line b/project.json`, projectJson('LINE A', 'Base'))],
    'unknown-view': ['Library', 'Base', 'Line a', 'Line b'].flatMap((name) => [
      { changes: pages(name, 'Gone'), path: `${projectRoot}/${name}/${perspective}/page-config` },
      { changes: view(`${name}/${perspective}/views/Main`, embedded('Gone')), path: `${projectRoot}/${name}/${perspective}/views/Main` },
    ]),
  }
}
