/**
 * Trees of resource collections as gateways write them, with valid signatures, for tests that break one thing.
 */
import { createHash } from 'node:crypto'
import { listingOf, type VersionedListing } from '../../runtime/validation/model/listing.ts'
import { signatureOf } from '../../runtime/validation/rules/signature.ts'

/** Content by path, relative to the repository. */
export type Files = Record<string, string>

export const root = 'services/config/resources'

export function modeJson(title: string, parent: string, more: object = {}): string {
  return `${JSON.stringify({ title, description: '', enabled: true, inheritable: true, parent, ...more }, undefined, 2)}\n`
}

/** The files of a resource below `folder` (relative to the collections root), with a signed manifest. */
export function resource(
  folder: string,
  files: Files,
  options: { manifest?: 'resource.json' | 'unary-resource.json'; attributes?: object; more?: object; locked?: boolean } = {},
): Files {
  const { manifest = 'resource.json', attributes = {}, more = {}, locked = false } = options
  const hash = (name: string): string =>
    createHash('sha256')
      .update(files[name] ?? '')
      .digest('hex')
  const unsigned = {
    scope: 'A',
    version: 1,
    restricted: false,
    overridable: true,
    files: Object.keys(files),
    attributes: { lastModification: { actor: 'plant', timestamp: '2026-01-15T08:00:00Z' }, ...attributes },
    ...more,
  }
  const signature = signatureOf(JSON.stringify(unsigned), hash, locked)
  const signed = { ...unsigned, attributes: { ...unsigned.attributes, lastModificationSignature: signature } }
  const own = Object.fromEntries(Object.entries(files).map(([name, content]) => [`${root}/${folder}/${name}`, content]))
  return { ...own, [`${root}/${folder}/${manifest}`]: `${JSON.stringify(signed, undefined, 2)}\n` }
}

export function config(value: object): Files {
  return { 'config.json': `${JSON.stringify(value, undefined, 2)}\n` }
}

const database = 'ignition/database-connection/historian'

/** A secret in the format of a gateway. */
function encrypted(text: string): object {
  return {
    type: 'Embedded',
    data: { ciphertext: text, encrypted_key: 'key', iv: 'iv', tag: 'tag', protected: 'eyJhbGciOiJBMjU2R0NNS1cifQ' },
  }
}

/**
 * A plant with several environments: external, core, dev and prod, nested and encoded names, a unary resource. Validation finds nothing in
 * it.
 */
export function validTree(): Files {
  return {
    'README.md': 'A plant\n',
    [`${root}/external/config-mode.json`]: modeJson('External', 'system'),
    [`${root}/core/config-mode.json`]: modeJson('Core', 'external'),
    [`${root}/dev/config-mode.json`]: modeJson('Development', 'core'),
    [`${root}/prod/config-mode.json`]: modeJson('Production', 'core'),
    [`${root}/dev/ignition/.gitkeep`]: '',
    [`${root}/migration-log-202601150800.md`]: 'migrated\n',
    ...resource('external/ignition/homepage-notes', config({ notes: 'Welcome' })),
    ...resource('core/ignition/system-properties', config({ systemName: 'plant', multicastIPAddr: '231.1.1.1' })),
    ...resource('core/ignition/security-levels', config({ levels: [] })),
    ...resource('core/ignition/tag-provider/line', config({ profile: { type: 'STANDARD' } })),
    ...resource('core/ignition/tag-provider/line%3a2', config({ profile: { type: 'STANDARD' } })),
    ...resource('core/ignition/images/icons/16/pump.png', { 'pump.png': 'not really' }, { attributes: { width: 16, height: 16 } }),
    ...resource(
      'core/ignition/tag-definition/line',
      { 'tags.json': '[]' },
      { manifest: 'unary-resource.json', attributes: { config: {} } },
    ),
    ...resource('core/ignition/tag-definition/line/Area', { 'tags.json': '[]' }, { manifest: 'unary-resource.json' }),
    ...resource('core/ignition/user-source/default', {
      ...config({ profile: {} }),
      'users.json': '{"users":[{"password":"[hash]"}],"roles":[]}',
    }),
    ...resource(
      'core/ignition/opc-connection/Ignition OPC UA Server',
      config({ settings: { endpoint: { endpointUrl: 'opc.tcp://localhost:62541' }, authentication: { password: 'generated' } } }),
    ),
    ...resource('core/com.inductiveautomation.perspective/themes/dark', { 'index.css': '', 'app/dock.css': 'a{}' }),
    ...resource('dev/ignition/system-properties', config({ systemName: 'plant-dev' })),
    ...resource('prod/ignition/system-properties', config({ systemName: 'plant-prod' })),
    ...resource(
      `dev/${database}`,
      config({ connectURL: 'jdbc:postgresql://db.dev.example.com:5432/historian', password: encrypted('dev') }),
    ),
    ...resource(
      `prod/${database}`,
      config({ connectURL: 'jdbc:postgresql://db.prod.example.com:5432/historian', password: encrypted('prod') }),
    ),
  }
}

/** The three common layouts of the specification: the modes of each. */
export const layouts: Readonly<Record<string, readonly string[]>> = {
  'single environment': ['dev'],
  'multi-environment': ['dev', 'test', 'prod'],
  'multi-region': ['dev', 'prod-north', 'prod-south'],
}

/** A tree of a layout; each mode has its own gateway network connection and databases, one of them with a name that no other mode has. */
export function layoutTree(modes: readonly string[]): Files {
  const files: Files = {
    [`${root}/core/config-mode.json`]: modeJson('Core', 'external'),
    ...resource('core/ignition/system-properties', config({ systemName: 'plant' })),
    ...resource('core/ignition/gateway-network-settings', config({ allowIncoming: true })),
  }
  for (const mode of modes) {
    Object.assign(
      files,
      { [`${root}/${mode}/config-mode.json`]: modeJson(mode, 'core') },
      resource(`${mode}/${database}`, config({ connectURL: `jdbc:postgresql://db.${mode}.example.com/historian` })),
      resource(`${mode}/ignition/database-connection/erp-${mode}`, config({ connectURL: `jdbc:postgresql://erp.${mode}.example.com/erp` })),
      resource(`${mode}/ignition/gateway-network-outgoing/central`, config({ host: `central.${mode}.example.com` })),
      resource(`${mode}/ignition/system-properties`, config({ systemName: `plant-${mode}` })),
    )
  }
  return files
}

/** In-memory commits, each with its files by hash, as listings that can be compared. */
export function commitListing(commits: ReadonlyMap<string, Files>, commit: string): VersionedListing {
  const filesOf = (hash: string): Files => {
    const files = commits.get(hash)
    if (files === undefined) throw new Error(`there is no commit ${hash}`)
    return files
  }
  return {
    ...listingOf(filesOf(commit)),
    async *changesSince(from) {
      const [before, after] = [filesOf(from), filesOf(commit)]
      const paths = new Set([...Object.keys(before), ...Object.keys(after)])
      yield [...paths].filter((path) => before[path] !== after[path]).map((path) => ({ path, gone: after[path] === undefined }))
    },
  }
}
