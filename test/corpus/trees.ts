/**
 * Small repositories, each with one fault from public repositories or one that was missed before: real faults of a gateway, and contents
 * that only resemble one.
 */
import { config, type Files, modeJson, resource, root } from '../support/collection-tree.ts'
import { embedded, pages, perspective, projectJson, projectResource, projectRoot, view } from '../support/project-tree.ts'
import { fullPlant, plant } from './plant.ts'

/** `findings` as `<severity> <rule> <path>: <message>`, errors first, then by path. */
export type TreeCase = { name: string; files: Files; findings: string[] }

const whole = plant({ ...fullPlant, hasLeftovers: false, hasSite: false })

/** A whole plant with files added, replaced or, with null, removed. */
function plantWith(...changes: Record<string, string | null>[]): Files {
  const files = { ...whole }
  for (const [path, content] of changes.flatMap((each) => Object.entries(each))) {
    if (content === null) delete files[path]
    else files[path] = content
  }
  return files
}

const none = (name: string, ...changes: Record<string, string | null>[]): TreeCase => ({ name, files: plantWith(...changes), findings: [] })
const one = (name: string, finding: string, ...changes: Record<string, string | null>[]): TreeCase => ({
  name,
  files: plantWith(...changes),
  findings: [finding],
})

const without = (...folders: string[]): Record<string, null> =>
  Object.fromEntries(Object.keys(whole).flatMap((path) => (folders.some((folder) => path.startsWith(`${folder}/`)) ? [[path, null]] : [])))
const latin1 = (text: string): string => Buffer.from(text, 'latin1') as unknown as string
const unary = { manifest: 'unary-resource.json' } as const
const encrypted = {
  type: 'Embedded',
  data: { ciphertext: 'a', encrypted_key: 'b', iv: 'c', tag: 'd', protected: 'eyJhbGciOiJBMjU2R0NNS1cifQ' },
}
const hall = 'core/ignition/tag-definition/Line/Hall 9'
const tags = (...list: object[]): Files => resource(hall, { 'tags.json': JSON.stringify(list), 'udts.json': '[]' }, unary)
const tag = (name: string, more: object = {}): object => ({ name, tagType: 'AtomicTag', ...more })
const types = (...list: object[]): Files =>
  resource('core/ignition/tag-type-definition/Line/More', { 'udts.json': JSON.stringify(list) }, unary)
const query = 'Base/ignition/named-query/Orders'
const overview = `Line a/${perspective}/views/Main`
const opcua = 'com.inductiveautomation.opcua'
const transmission = 'com.cirruslink.mqtt.transmission.gateway'

/** Contents that resemble a fault. */
const harmless: readonly TreeCase[] = [
  {
    name: 'a folder of webdev, laid over a project that the gateway has',
    files: { 'README.md': 'An API\n', ...projectResource('site/com.inductiveautomation.webdev/resources/api', { 'config.json': '{}' }) },
    findings: [
      `warning missing-project-json ${projectRoot}/site: has resources but no project.json, like every folder next to it: they work only if the gateway has the project`,
    ],
  },
  one(
    'a view without attributes, which gateways 8.3 load',
    `warning missing-attributes ${projectRoot}/${overview}/resource.json: has no "attributes": Ignition 8.1 fails to load such a project`,
    projectResource(overview, { 'view.json': '{"root":{"children":[]}}' }, { attributes: undefined }),
  ),
  one(
    'scripts that a tool extracts beside views',
    `warning unlisted-file ${projectRoot}/Base/${perspective}/views: contains 4 files next to 4 resources that list none of them, such as ${projectRoot}/Base/${perspective}/views/Parts/Tank 0/view.py: the gateway ignores them`,
    ...[0, 1, 2, 3].map((number) => ({
      ...view(`Base/${perspective}/views/Parts/Tank ${number}`),
      [`${projectRoot}/Base/${perspective}/views/Parts/Tank ${number}/view.py`]: 'pass\n',
    })),
  ),
  none(
    'defaults of the MQTT modules',
    resource('core/com.cirruslink.mqtt.engine.gateway/server-set/Default', config({ enabled: true })),
    resource(
      'core/com.cirruslink.mqtt.engine.gateway/server/Chariot SCADA',
      config({ serverSet: 'Default', url: 'tcp://localhost:1883', username: 'admin', password: encrypted }),
    ),
    resource('core/com.cirruslink.mqtt.distributor.gateway/user/admin', config({ password: 'changeme' })),
  ),
  none('a template beside the file that it renders', {
    [`${root}/core/ignition/system-properties/config.json.j2`]: '{"systemName":"{{ name }}"}\n',
  }),
  {
    name: 'a key store of local, which git ignores and no gateway gets',
    files: plantWith(
      { [`${root}/local/config-mode.json`]: modeJson('Local', 'prod', { inheritable: false }) },
      resource(`local/${opcua}/server-keystore`, {}, { more: { files: ['keystore.pfx'] } }),
    ),
    findings: [`warning local-committed ${root}/local: contains 1 resource of one machine: this collection is not delivered`],
  },
  none(
    'the password of an error report without a server',
    resource('core/ignition/cobranding', config({ errorReportServer: '', errorReportPassword: encrypted, smtpHost: '' })),
  ),
  none(
    'a value of localhost in core that a mode overrides',
    resource('core/ignition/database-connection/Log', config({ connectURL: 'jdbc:postgresql://localhost:5432/log', password: encrypted })),
    resource('prod/ignition/database-connection/Log', config({ connectURL: 'jdbc:postgresql://log.example.com:5432/log', password: '' })),
  ),
  none('names of projects that break the advice of the vendor', {
    [`${projectRoot}/Line 1 (old) & new/project.json`]: projectJson('Line 1', 'Base'),
  }),
  none(
    'names that every gateway has',
    resource(`core/${opcua}/server-config`, config({ authentication: { authenticationProfile: 'opcua-module' } })),
    tags(tag('A', { tagGroup: 'Default', opcServer: 'Ignition OPC UA Server', historyProvider: 'Internal Historian' })),
    resource('core/ignition/user-source/default', {
      ...config({ profile: {} }),
      'users.json': '{"users":[{"schedule":"Always"}],"roles":[]}',
    }),
  ),
]

/** Faults that lose a resource or more. */
const lost: readonly TreeCase[] = [
  one(
    'a project whose project.json is missing beside others',
    `error missing-project-json ${projectRoot}/Line b: has resources but no project.json: the gateway does not load the project`,
    { [`${projectRoot}/Line b/project.json`]: null },
  ),
  one(
    'a collection without attributes',
    `error missing-attributes ${root}/core/ignition/schedule/Day/resource.json: has no "attributes": a gateway that starts with this collection fails with a NullPointerException`,
    { [`${root}/core/ignition/schedule/Day/resource.json`]: '{"scope":"A","version":1,"files":["config.json"]}' },
  ),
  one(
    'a thumbnail that is listed and does not exist',
    `warning listed-file-missing ${projectRoot}/${overview}/resource.json: lists "thumbnail.png", which does not exist as a regular file: the Designer may fail to open the project`,
    projectResource(overview, { 'view.json': '{"root":{}}' }, { files: ['view.json', 'thumbnail.png'] }),
  ),
  one(
    'a project copied into itself',
    `error nested-copy ${projectRoot}/Line b/Line b: is a project inside "Line b", one folder too deep: the gateway does not load it`,
    { [`${projectRoot}/Line b/Line b/project.json`]: projectJson('Line b', 'Base') },
  ),
  one(
    'collections copied into their own folder',
    `error nested-copy ${root}/resources/core: is a collection inside "resources", one folder too deep: the gateway does not load it`,
    { [`${root}/resources/core/config-mode.json`]: modeJson('Core', 'external') },
  ),
  ...Object.entries({
    'contains a secret in plain text instead of its encrypted form': 'hunter2',
    'contains an encrypted secret without its encrypted_key, iv, tag': { ciphertext: 'a', protected: 'e30' },
  }).map(([problem, data]) =>
    one(
      `an embedded secret: ${problem}`,
      `error broken-secret ${root}/prod/com.example.erp/server/a/config.json: ${problem} at login: the gateway cannot read it`,
      resource('prod/com.example.erp/server/a', config({ login: { type: 'Embedded', data } })),
    ),
  ),
  one(
    'tags that are an object',
    `error wrong-shape ${root}/${hall}/tags.json: is an object instead of a list: the gateway cannot read it`,
    resource(hall, { 'tags.json': '{"name":"A"}', 'udts.json': '[]' }, unary),
  ),
  one(
    'members of a tag folder that are an object',
    `error wrong-shape ${root}/${hall}/tags.json: has an object instead of a list at tags[0].tags[0].tags: the gateway cannot read these tags`,
    tags({ name: 'A', tagType: 'Folder', tags: [{ name: 'B', tagType: 'Folder', tags: {} }] }),
  ),
  one(
    'children of a view that are an object',
    `warning wrong-shape ${projectRoot}/${overview}/view.json: has an object instead of a list at root.children[0].children: the view cannot be shown`,
    view(overview, { type: 'ia.container.flex', children: {} }),
  ),
  one(
    'a view without its root',
    `warning view-without-root ${projectRoot}/${overview}/view.json: has no root component: the view shows nothing`,
    projectResource(overview, { 'view.json': '{"custom":{},"params":{}}' }),
  ),
  one(
    'a script that is not UTF-8',
    `warning not-utf-8 ${projectRoot}/Library/ignition/script-python/plant/sums/code.py: is not UTF-8 text: some of its characters will be wrong`,
    projectResource('Library/ignition/script-python/plant/sums', { 'code.py': latin1('# Käse\n') }),
  ),
  one(
    'a script that is UTF-16',
    `error not-utf-8 ${projectRoot}/Library/ignition/script-python/plant/sums/code.py: is UTF-16 text, not UTF-8, so the gateway cannot read the file`,
    projectResource('Library/ignition/script-python/plant/sums', { 'code.py': Buffer.from('a = 1\n', 'utf16le') as unknown as string }),
  ),
  one(
    'a folder of a project with a forbidden character',
    `warning forbidden-name ${projectRoot}/Base/${perspective}/views/Tank?: the name contains the forbidden character ?: gateways do not accept it`,
    view(`Base/${perspective}/views/Tank?`),
  ),
  one(
    'the cache of a gateway beside its projects',
    `warning cache-committed ${projectRoot}/.resources: contains 1 file of the gateway's cache, which the gateway rebuilds: the cache only makes the repository larger`,
    { [`${projectRoot}/.resources/0a1b`]: 'x' },
  ),
  one(
    'a script module with modules below it',
    `warning resource-in-resource ${projectRoot}/Library/ignition/script-python/plant/sums: is a script module with code, but also contains the modules "night" and 1 more: the gateway loads only its own code`,
    projectResource('Library/ignition/script-python/plant/sums/night', { 'code.py': 'a = 1\n' }),
    projectResource('Library/ignition/script-python/plant/sums/week', { 'code.py': 'a = 1\n' }),
  ),
]

/** `what`: the kind and name of the resource, and the place where the resource at `path` names it. */
const missing = (path: string, what: string, meant = ''): string =>
  `warning missing-reference ${path}: refers to the ${what}, which does not exist${meant}: the resource does not work without it`

const references: readonly TreeCase[] = [
  one(
    'a query without its database connection',
    missing(`${projectRoot}/${query}`, 'database connection "Plant dbb" at attributes.database', ' (did you mean "plant db"?)'),
    projectResource(query, { 'query.sql': 'SELECT 1' }, { attributes: { database: 'Plant dbb' } }),
  ),
  one(
    'a tag without its historian',
    missing(`${root}/${hall}`, 'historian "Old" at historyProvider'),
    tags(tag('A', { historyProvider: 'Old' })),
  ),
  one(
    'a tag without its tag group',
    missing(`${root}/${hall}`, 'tag group "Line/Rapid" at tagGroup'),
    tags(tag('A', { tagGroup: 'Rapid' })),
  ),
  one(
    'an alarm without its pipeline',
    missing(`${root}/${hall}`, 'alarm pipeline "Library/Escalation" at alarms.activePipeline'),
    tags(tag('A', { alarms: [{ name: 'High', activePipeline: 'Library/Escalation' }] })),
  ),
  none(
    'an alarm with its pipeline',
    tags(tag('A', { alarms: [{ name: 'High', activePipeline: 'Library/Escalation' }] })),
    projectResource('Library/com.inductiveautomation.alarm-notification/alarm-pipelines/Escalation', { 'data.bin': 'x' }),
  ),
  one(
    'a historian without its database connection',
    missing(`${root}/core/com.inductiveautomation.historian/historian-provider/Trends`, 'database connection "Old" at settings.database'),
    resource('core/com.inductiveautomation.historian/historian-provider/Trends', config({ settings: { database: 'Old' } })),
  ),
  {
    name: 'security properties without the default user source',
    files: plantWith(without(`${root}/core/ignition/user-source/default`)),
    findings: [
      missing(`${root}/core/ignition/identity-provider/default`, 'user source "default" at settings.userSource'),
      missing(`${root}/core/ignition/security-properties`, 'user source "default" at systemAuthProfile'),
    ],
  },
  one(
    'a gateway scripting project that does not exist',
    missing(`${root}/core/ignition/system-properties`, 'project "Scripts" at gatewayScriptingProject'),
    resource('core/ignition/system-properties', config({ systemName: 'plant', gatewayScriptingProject: 'Scripts' })),
    without(...['dev', 'Test', 'prod'].map((mode) => `${root}/${mode}/ignition/system-properties`)),
  ),
  one(
    'a user without the schedule',
    missing(`${root}/core/ignition/user-source/default`, 'schedule "Nights" at users.*.schedule'),
    resource('core/ignition/user-source/default', {
      ...config({ profile: {} }),
      'users.json': '{"users":[{"schedule":"Nights"}],"roles":[]}',
    }),
  ),
  one(
    'a journal table without its alarm journal',
    missing(`${projectRoot}/${overview}`, 'alarm journal "Old" at ia.display.alarmjournaltable props.name'),
    view(overview, { type: 'ia.display.alarmjournaltable', props: { name: 'Old' } }),
  ),
  one(
    'a project without its parent',
    `warning unknown-project-parent ${projectRoot}/Line b/project.json: inherits from "Bass", which does not exist here: what it inherits is missing unless the gateway has that project`,
    { [`${projectRoot}/Line b/project.json`]: projectJson('Line b', 'Bass') },
    pages('Line b', 'Main'),
  ),
]

const shared = (path: string, what: string, collection = 'core'): string =>
  `warning machine-identity-shared ${root}/${path}: contains ${what}, the identity of one machine: every gateway that reads ${collection} would share it`
const same = (path: string, what: string): string =>
  `warning same-value-in-modes ${root}/prod/${path}: has the same ${what} as in the deployment mode "dev": the two environments are not separate`
/** A resource in the modes dev and prod with the same value in both. */
const inBoth = (folder: string, value: object): Files => ({
  ...resource(`dev/${folder}`, config({ ...value, mode: 'dev' })),
  ...resource(`prod/${folder}`, config({ ...value, mode: 'prod' })),
})

const copies: readonly TreeCase[] = [
  ...['server-keystore', 'client-keystore', 'uuid'].map((type) =>
    one(
      `${type} of OPC UA in core`,
      shared(`core/${opcua}/${type}`, `${opcua}/${type}`),
      resource(`core/${opcua}/${type}`, { 'data.bin': 'x' }),
    ),
  ),
  one(
    'the system UID in core',
    `warning machine-identity-shared ${root}/core/ignition/cobranding: contains the systemUID of one machine: every gateway that reads it would share it`,
    resource('core/ignition/cobranding', config({ systemUID: '5b1e' })),
  ),
  one(
    'the name of a gateway',
    same('ignition/system-properties', 'gateway name'),
    inBoth('ignition/system-properties', { systemName: 'a' }),
  ),
  one(
    'the database of a gateway',
    same('ignition/database-connection/Plant db', 'target address'),
    inBoth('ignition/database-connection/Plant db', { connectURL: 'jdbc:postgresql://db.example.com/plant' }),
  ),
  one(
    'the address of a device',
    same(`${opcua}/device/PLC 0`, 'target address'),
    inBoth(`${opcua}/device/PLC 0`, { settings: { hostname: '10.1.4.1', port: 502 } }),
  ),
  one(
    'the client ID of MQTT',
    same(`${transmission}/server/Broker`, 'MQTT client ID'),
    inBoth(`${transmission}/server/Broker`, { clientId: 'line-1' }),
  ),
  one(
    'two tags of one name in a file',
    `warning repeated-tag ${root}/${hall}: defines the tag or tag type "Hall 9/A" more than once: only one of them remains`,
    tags(tag('A'), tag('A')),
  ),
  one(
    'two tag types of one name',
    `warning repeated-tag ${root}/core/ignition/tag-type-definition/Line/More: defines the tag or tag type "More/Pump" more than once: only one of them remains`,
    types({ name: 'Pump', tagType: 'UdtType' }, { name: 'Pump', tagType: 'UdtType' }),
  ),
  one(
    'tag types that contain each other',
    `warning tag-type-cycle ${root}/core/ignition/tag-type-definition/Line/More: tag types contain each other, so their instances are in error: line/more/a -> line/more/b -> line/more/a`,
    types(
      { name: 'A', tagType: 'UdtType', typeId: 'More/B' },
      { name: 'B', tagType: 'UdtType', tags: [{ name: 'a', tagType: 'UdtInstance', typeId: 'More/A' }] },
    ),
  ),
  one(
    'a password in connection properties',
    `warning plain-credential ${root}/prod/com.example.erp/server/a: contains a password in plain text at settings.connectionProps: everyone who can read the repository has it`,
    resource('prod/com.example.erp/server/a', config({ settings: { connectionProps: 'encrypt=true;password=hunter2' } })),
  ),
  one(
    'a view that is embedded and does not exist',
    `warning unknown-view ${projectRoot}/${overview}: shows the view "Parts/Gone", which neither the project nor its parents have: operators see "View not found"`,
    view(overview, embedded('Parts/Gone')),
  ),
]

export const trees: readonly TreeCase[] = [...harmless, ...lost, ...references, ...copies]
