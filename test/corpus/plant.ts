/**
 * Plants as their engineers keep them in git, generated from a few choices: up to three deployment modes, one of which may inherit from
 * another, databases, historians, journals, devices, tags with their types, users, secrets, and four projects that inherit from each other.
 * Validation finds nothing in any of them.
 */
import fc from 'fast-check'
import { config, type Files, modeJson, resource, root } from '../support/collection-tree.ts'
import { embedded, pages, perspective, projectJson, projectResource, projectRoot, script, view } from '../support/project-tree.ts'

/** The differences between plants. Names consist of the letters that gateways accept, with and without their encoding. */
export type Choices = {
  modes: readonly { name: string; inherits: boolean }[]
  database: string
  provider: string
  area: string
  type: string
  areas: number
  devices: number
  hasSecrets: boolean
  hasStaff: boolean
  hasJournal: boolean
  /** Files for users and their computers, and a disabled resource. */
  hasLeftovers: boolean
  /** A project of one site in its own folder, which inherits from one of the plant. */
  hasSite: boolean
  /** Files of one gateway that are laid over the plant's. */
  hasFragment: boolean
  projects: readonly [string, string, string, string]
  views: readonly string[]
}

const word = fc.stringMatching(/^[A-Z][a-z0-9]{1,7}(?: [a-z0-9]{1,5})?$/)
/** The name of a resource on disk. */
const encoded = (name: string): string => name.replaceAll('/', '%2F')
const distinct = (count: number) => fc.uniqueArray(word, { minLength: count, maxLength: count, selector: (name) => name.toLowerCase() })

export const choices: fc.Arbitrary<Choices> = fc.record({
  modes: fc
    .uniqueArray(fc.constantFrom('dev', 'Test', 'prod', 'prod-north', 'QA 2'), { minLength: 1, maxLength: 3 })
    .chain((names) => fc.tuple(...names.map((name) => fc.record({ name: fc.constant(name), inherits: fc.boolean() })))),
  database: word,
  provider: word,
  area: word,
  type: word,
  areas: fc.integer({ min: 1, max: 3 }),
  devices: fc.integer({ min: 0, max: 3 }),
  hasSecrets: fc.boolean(),
  hasStaff: fc.boolean(),
  hasJournal: fc.boolean(),
  hasLeftovers: fc.boolean(),
  hasSite: fc.boolean(),
  hasFragment: fc.boolean(),
  projects: distinct(4).map(([a = '', b = '', c = '', d = '']) => [a, b, c, d] as const),
  views: fc.uniqueArray(word, { minLength: 1, maxLength: 4, selector: (name) => name.toLowerCase() }),
})

/** A plant with one of everything. */
export const fullPlant: Choices = {
  modes: [
    { name: 'dev', inherits: false },
    { name: 'Test', inherits: true },
    { name: 'prod', inherits: false },
  ],
  database: 'Plant db',
  provider: 'Line',
  area: 'Hall 1',
  type: 'Motor',
  areas: 2,
  devices: 2,
  hasSecrets: true,
  hasStaff: true,
  hasJournal: true,
  hasLeftovers: true,
  hasSite: true,
  hasFragment: false,
  projects: ['Library', 'Base', 'Line a', 'Line b'],
  views: ['Overview', 'Pump'],
}

export function plant(chosen: Choices): Files {
  const { hasLeftovers, hasSite, hasFragment } = chosen
  return {
    'README.md': 'A plant\n',
    ...collections(chosen),
    ...projects(chosen),
    ...(hasLeftovers ? leftovers(chosen) : {}),
    ...(hasSite ? site(chosen) : {}),
    ...(hasFragment ? fragment(chosen) : {}),
  }
}

/** The repository of one project with its parent in another repository. */
export function projectAlone({ projects: [, , line], ...chosen }: Choices): Files {
  const folder = `${projectRoot}/${line}/`
  const own = Object.entries(projects({ projects: ['Library', 'Base', line, 'Other'], ...chosen })).filter(([path]) =>
    path.startsWith(folder),
  )
  return { 'README.md': 'A line\n', ...Object.fromEntries(own.map(([path, content]) => [path.slice(folder.length), content])) }
}

function leftovers({ projects: [library] }: Choices): Files {
  return {
    [`${root}/README.md`]: 'Collections\n',
    [`${root}/core/ignition/schedule/readme.txt`]: 'Schedules\n',
    [`${root}/core/ignition/schedule/Day/.DS_Store`]: 'x',
    [`${root}/core/Thumbs.db`]: 'x',
    [`${projectRoot}/.DS_Store`]: 'x',
    [`${projectRoot}/${library}/README.md`]: 'A library\n',
    ...resource('core/ignition/audit-profile/old', config({ settings: { database: 'Gone' } }), { attributes: { enabled: false } }),
  }
}

function fragment({ database }: Choices): Files {
  const files = {
    ...resource(`external/ignition/audit-profile/seed`, config({ profile: { type: 'DATASOURCE' }, settings: { datasource: database } })),
    ...resource('core/com.cirruslink.mqtt.engine.gateway/server/seed', {}, { more: { files: ['config.json', 'backupConfig.json'] } }),
  }
  return Object.fromEntries(Object.entries(files).map(([path, content]) => [path.replace(root, 'seeds/north/config/resources'), content]))
}

function site({ projects: [library, base], views: [first = ''] }: Choices): Files {
  const files = {
    [`${projectRoot}/Site of ${library}/project.json`]: projectJson('Site', base),
    ...view(`Site of ${library}/${perspective}/views/Start`, embedded(`Parts/${first}`)),
  }
  return Object.fromEntries(Object.entries(files).map(([path, content]) => [path.replace(projectRoot, 'sites/north/projects'), content]))
}

function collections(chosen: Choices): Files {
  const files: Files = {
    [`${root}/external/config-mode.json`]: modeJson('External', 'system'),
    [`${root}/core/config-mode.json`]: modeJson('Core', 'external'),
  }
  Object.assign(files, core(chosen), tags(chosen))
  let before: string | undefined
  for (const [index, { name, inherits }] of chosen.modes.entries()) {
    const parent = inherits && before !== undefined ? before : 'core'
    files[`${root}/${name}/config-mode.json`] = modeJson(name, parent)
    Object.assign(files, ofMode(chosen, name, index))
    before = name
  }
  return files
}

const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`

function core({ database, provider, hasSecrets, hasStaff }: Choices): Files {
  const permissions = { systemAuthProfile: 'default', systemIdentityProvider: hasStaff ? 'sso' : 'default' }
  const tagProvider = { profile: { type: 'STANDARD' }, settings: { defaultDatasourceName: database } }
  return Object.assign(
    resource('external/ignition/homepage-notes', config({ notes: 'Welcome' })),
    resource('core/ignition/system-properties', config({ systemName: 'plant', multicastIPAddr: '231.1.1.1' })),
    resource('core/ignition/security-properties', config(permissions)),
    resource('core/ignition/security-levels', config({ levels: [] })),
    resource('core/ignition/user-source/default', { ...config({ profile: {} }), 'users.json': '{"users":[],"roles":[]}' }),
    resource(`core/ignition/tag-provider/${encoded(provider)}`, config(tagProvider), { attributes: { uuid: uuid(1) } }),
    resource('core/ignition/schedule/Day', config({ profile: { type: 'basic schedule' } }), { attributes: { uuid: uuid(2) } }),
    resource('core/ignition/images/icons/16/pump.png', { 'pump.png': 'not really' }, { attributes: { width: 16, height: 16 } }),
    resource('core/com.inductiveautomation.perspective/themes/dark', { 'index.css': '', 'app/dock.css': 'a{}' }),
    hasSecrets ? resource('core/ignition/secret-provider/vault', config({ profile: { type: 'file' } })) : {},
    resource('core/ignition/gateway-network-settings', config({ allowIncoming: true })),
    resource('core/ignition/general-alarm-settings', config({ liveEventLimit: 5 })),
    resource('core/ignition/identity-provider/default', config({ settings: { userSource: 'default' } })),
  ) as Files
}

function databaseAt(collection: string, name: string, host: string, secret?: object): Files {
  const url = `jdbc:postgresql://${host}:5432/plant`
  return resource(`${collection}/ignition/database-connection/${encoded(name)}`, config({ connectURL: url, password: secret ?? '' }))
}

/** Each mode has its own differences: its machines, and secrets that are stored elsewhere. */
function ofMode({ database, devices, hasSecrets, hasStaff, hasJournal }: Choices, mode: string, index: number): Files {
  const name = mode.toLowerCase().replaceAll(' ', '-')
  const secret = hasSecrets ? { type: 'Referenced', data: { providerName: 'vault', secretName: `db-${name}` } } : undefined
  const historian = { profile: { type: 'sql' }, settings: { storage: { datasource: database } } }
  const files: Files[] = [
    databaseAt(mode, database, `db.${name}.example.com`, secret),
    resource(`${mode}/ignition/system-properties`, config({ systemName: `plant-${name}` })),
    resource(`${mode}/com.inductiveautomation.historian/historian-provider/Core`, config({ ...historian, mode })),
  ]
  const journal = { profile: { type: 'DATASOURCE' }, settings: { datasource: database }, mode }
  if (hasStaff) {
    files.push(resource(`${mode}/ignition/user-source/staff`, config({ profile: { type: 'INTERNAL' }, mode })))
    files.push(resource(`${mode}/ignition/identity-provider/sso`, config({ settings: { userSource: 'staff' }, mode })))
  }
  if (hasJournal) files.push(resource(`${mode}/ignition/alarm-journal/Journal`, config(journal)))
  for (let number = 0; number < devices; number += 1) {
    const settings = { hostname: `10.${index + 1}.4.${number + 1}`, port: 502 }
    const folder = `${mode}/com.inductiveautomation.opcua/device/PLC ${number}`
    files.push(resource(folder, config({ profile: { type: 'ModbusTcp' }, settings }), { attributes: { uuid: uuid(100 + number) } }))
  }
  return Object.assign({}, ...files) as Files
}

function tags({ provider, area, type, areas }: Choices): Files {
  const unary = { manifest: 'unary-resource.json' } as const
  const base = encoded(provider)
  const types = [
    { name: type, tagType: 'UdtType', typeId: null, tags: [{ name: 'Speed', tagType: 'AtomicTag', valueSource: 'memory' }] },
    { name: `${type} fast`, tagType: 'UdtType', typeId: type },
  ]
  const files: Files[] = [
    resource(`core/ignition/tag-type-definition/${base}`, { 'udts.json': JSON.stringify(types) }, unary),
    resource(`core/ignition/tag-definition/${base}`, { 'tags.json': '[]', 'udts.json': '[]' }, { ...unary, attributes: { config: {} } }),
    resource(`core/ignition/tag-group/${base}/Default`, config({ mode: 'Direct', rate: 1000 })),
  ]
  for (let number = 0; number < areas; number += 1) {
    const made = [{ name: 'M1', tagType: 'UdtInstance', typeId: number === 0 ? type : `[${provider}]_types_/${type} fast` }]
    const folder = `core/ignition/tag-definition/${base}/${encoded(area)} ${number}`
    files.push(resource(folder, { 'tags.json': '[]', 'udts.json': JSON.stringify(made) }, unary))
  }
  return Object.assign({}, ...files) as Files
}

function projects({ projects: [library, base, lineA, lineB], views }: Choices): Files {
  const [first = ''] = views
  const files: Files[] = [
    { [`${projectRoot}/${library}/project.json`]: projectJson(library, '', { inheritable: true }) },
    { [`${projectRoot}/${base}/project.json`]: projectJson(base, library, { inheritable: true }) },
    { [`${projectRoot}/${lineA}/project.json`]: projectJson(lineA, base) },
    { [`${projectRoot}/${lineB}/project.json`]: projectJson(lineB, base) },
    projectResource(`${library}/ignition/script-python/plant/sums`, { 'code.py': script }),
    projectResource(`${library}/ignition/named-query/Shift Log`, { 'query.sql': 'SELECT * FROM log WHERE day = :day' }),
    projectResource(`${base}/${perspective}/session-props`, { 'props.json': '{}' }),
    ...views.map((name) => view(`${base}/${perspective}/views/Parts/${name}`, { type: 'ia.display.label', props: { text: name } })),
    view(`${lineA}/${perspective}/views/Main`, ...views.map((name) => embedded(`Parts/${name}`))),
    pages(lineA, 'Main', `Parts/${first}`),
    view(`${lineB}/${perspective}/views/Main`, embedded('Gone', { propConfig: { 'props.path': { binding: { type: 'expr' } } } })),
    pages(lineB, `Parts/${first}`),
  ]
  return Object.assign({}, ...files) as Files
}
