/**
 * Rows about references between resources.
 */
import type { RuleId } from '../../../runtime/validation/rules/rules.ts'
import { config, type Files, modeJson, resource, root } from '../collection-tree.ts'
import { changed, type Row, withResource } from './row.ts'

const journal = 'core/ignition/alarm-journal/plant'
const journalOf = (datasource: string): Files => resource(journal, config({ profile: { type: 'DATASOURCE' }, settings: { datasource } }))
const database = (collection: string, name: string, host: string): Files =>
  resource(`${collection}/ignition/database-connection/${name}`, config({ connectURL: `jdbc:postgresql://${host}/erp` }))
const secret = (providerName: string): Files =>
  resource(
    'core/ignition/email-profile/shift',
    config({ settings: { password: { type: 'Referenced', data: { providerName, secretName: 'a' } } } }),
  )
const types = (folder: string, tags: object[]): Files =>
  resource(folder, { 'udts.json': JSON.stringify(tags) }, { manifest: 'unary-resource.json' })
const instance = (typeId: string): object => ({ name: `of ${typeId}`, tagType: 'UdtInstance', typeId })
const withTypes = (...used: object[]): Files =>
  withResource(
    types('core/ignition/tag-type-definition/line', [{ name: 'Motor', tagType: 'UdtType' }]),
    types('core/ignition/tag-type-definition/line/Drives', [{ name: 'Belt', tagType: 'UdtType', typeId: 'Motor' }]),
    types('core/ignition/tag-definition/line/Area/Hall', used),
  )
const tags = 'core/ignition/tag-definition/line/Area/Hall'
const uuid = (folder: string, id: string): Files => resource(folder, config({ a: folder }), { attributes: { uuid: id } })
const device = (mode: string, settings: object): Files =>
  resource(`${mode}/com.inductiveautomation.opcua/device/press`, config({ profile: { type: 'ModbusTcp' }, settings }))

const typeFolder = 'core/ignition/tag-type-definition/line'
const atomic = (name: string, more: object = {}): object => ({ name, tagType: 'AtomicTag', ...more })
/** A resource that refers to another one, in each form of the reference table, and the required target. */
const tagGroup = (name: string): Files => resource(`core/ignition/tag-group/line/${name}`, config({ config: { rate: 1000 } }))
const staff = resource('prod/ignition/user-source/staff', config({ profile: { type: 'INTERNAL' } }))
const named: readonly (readonly [what: string, folder: string, files: Files, others?: Files])[] = [
  [
    'the database of a SQL historian',
    'core/com.inductiveautomation.historian/historian-provider/sql',
    config({ settings: { database: 'gone' } }),
  ],
  ['the database of an audit profile', 'core/ignition/audit-profile/a', config({ settings: { databaseName: 'gone' } })],
  ['the tag group of a tag', tags, { 'tags.json': JSON.stringify([atomic('A', { tagGroup: 'Gone' })]) }, tagGroup('Fast')],
  ['the historian of a tag', tags, { 'tags.json': JSON.stringify([atomic('A', { historyProvider: 'gone' })]) }],
  ['the database of a query tag', tags, { 'tags.json': JSON.stringify([atomic('A', { datasource: 'gone' })]) }],
  ['the user source of the gateway', 'core/ignition/security-properties', config({ systemAuthProfile: 'plant' })],
  [
    'the identity provider of the gateway',
    'core/ignition/security-properties',
    config({ systemIdentityProvider: 'sso' }),
    resource('core/ignition/identity-provider/default', config({})),
  ],
  ['the audit profile of the gateway', 'core/ignition/security-properties', config({ gatewayAuditProfile: 'gone' })],
  [
    'the user source of OPC UA',
    'core/com.inductiveautomation.opcua/server-config',
    config({ authentication: { authenticationProfile: 'gone' } }),
  ],
  [
    'the schedule of a user',
    'prod/ignition/user-source/staff',
    { ...config({ a: 1 }), 'users.json': '{"users":[{"schedule":"Gone"}],"roles":[]}' },
    resource('core/ignition/schedule/Day', config({ a: 1 })),
  ],
  ['the user source of a roster', 'core/ignition/roster-config/night', config({ users: [{ profile: 'gone', userId: '1' }] })],
  [
    'the schedule of store and forward',
    'core/ignition/store-and-forward-engine/erp',
    config({ forwardingSchedule: 'Gone' }),
    resource('core/ignition/schedule/Day', config({ a: 1 })),
  ],
  [
    'the server set of an MQTT server',
    'prod/com.cirruslink.mqtt.engine.gateway/server/a',
    config({ serverSet: 'Gone' }),
    resource('core/com.cirruslink.mqtt.engine.gateway/server-set/Default Set', config({ a: 1 })),
  ],
  [
    'the tag provider of an MQTT transmitter',
    'prod/com.cirruslink.mqtt.transmission.gateway/transmitter/a',
    config({ tagProvider: 'gone' }),
  ],
  [
    'the email profile of notifications',
    'core/com.inductiveautomation.alarm-notification/alarm-notification-profile/mail',
    config({ settings: { settings: { emailProfile: 'gone' } } }),
  ],
]

/** The placement of a resource is checked elsewhere. */
const options: Row['options'] = {
  severity: (rule, _path, usual) => (rule === 'belongs-in-mode' || rule === 'missing-singletons' ? 'off' : usual),
}

const rows = {
  'missing-reference': [
    ...named.map(([what, folder, files, others = {}]) => ({
      fault: what,
      files: withResource(resource(folder, files, folder === tags ? { manifest: 'unary-resource.json' } : {}), others),
      findings: [`warning missing-reference ${folder}`],
    })),
    {
      fault: 'what every gateway has',
      files: withResource(
        tagGroup('Fast'),
        staff,
        resource(
          tags,
          {
            'tags.json': JSON.stringify([
              atomic('A', { tagGroup: 'Default', opcServer: 'Ignition OPC UA Server' }),
              atomic('B', { tagGroup: 'Default Historical' }),
            ]),
          },
          { manifest: 'unary-resource.json' },
        ),
        resource('core/com.inductiveautomation.opcua/server-config', config({ authentication: { authenticationProfile: 'opcua-module' } })),
        resource('core/ignition/security-properties', config({ systemAuthProfile: 'default', systemIdentityProvider: 'default' })),
      ),
      findings: [],
    },
    {
      fault: 'a database connection that exists nowhere',
      files: withResource(journalOf('gone')),
      findings: [`warning missing-reference ${journal}`],
    },
    {
      fault: 'what is switched off asks for nothing',
      files: withResource(resource(journal, config({ settings: { datasource: 'gone' } }), { attributes: { enabled: false } })),
      findings: [],
    },
    { fault: 'one that each mode has', files: withResource(journalOf('Historian')), findings: [] },
    { fault: 'one that a template fills in', files: withResource(journalOf('{{ vars.database }}')), findings: [] },
    {
      fault: 'one that a mode lacks',
      files: withResource(journalOf('erp'), database('dev', 'erp', 'erp.dev.example.com')),
      findings: ['warning missing-reference core/ignition/alarm-journal/plant'],
    },
    {
      fault: 'the mode that lacks it overrides what names it',
      files: withResource(
        journalOf('historian'),
        resource('dev/ignition/alarm-journal/plant', config({ profile: { type: 'DATASOURCE' }, settings: { datasource: 'gone' } })),
        resource('prod/ignition/alarm-journal/plant', config({ profile: { type: 'REMOTE' }, settings: {} })),
      ),
      findings: ['warning missing-reference dev/ignition/alarm-journal/plant'],
    },
    {
      fault: 'the database connection of a tag provider',
      files: withResource(resource('core/ignition/tag-provider/hall', config({ settings: { defaultDatasourceName: 'gone' } }))),
      findings: ['warning missing-reference core/ignition/tag-provider/hall'],
    },
    {
      fault: 'the database connection of a historian',
      files: withResource(
        resource(
          'core/com.inductiveautomation.historian/historian-provider/core',
          config({ settings: { storage: { datasource: 'gone' } } }),
        ),
      ),
      findings: ['warning missing-reference core/com.inductiveautomation.historian/historian-provider/core'],
    },
    {
      fault: 'a secret provider',
      files: withResource(secret('vault')),
      findings: ['warning missing-reference core/ignition/email-profile/shift'],
    },
    {
      fault: 'a secret provider that exists',
      files: withResource(secret('vault'), resource('core/ignition/secret-provider/Vault', config({ profile: { type: 'file' } }))),
      findings: [],
    },
    {
      fault: 'a user source, where others are in the repository',
      files: withResource(
        resource('core/ignition/user-source/staff', config({ profile: { type: 'AD' } })),
        resource('core/ignition/identity-provider/sso', config({ settings: { userSource: 'stuff' } })),
      ),
      findings: ['warning missing-reference core/ignition/identity-provider/sso'],
    },
    {
      fault: 'a user source, where the repository has none but those of every gateway',
      files: withResource(resource('core/ignition/identity-provider/sso', config({ settings: { userSource: 'staff' } }))),
      findings: ['warning missing-reference core/ignition/identity-provider/sso'],
    },
    {
      fault: 'the default user source and identity provider, which the repository lacks',
      files: changed(
        {
          'core/ignition/user-source/default/resource.json': null,
          'core/ignition/user-source/default/config.json': null,
          'core/ignition/user-source/default/users.json': null,
        },
        withResource(
          resource('core/ignition/user-source/staff', config({})),
          resource('core/ignition/identity-provider/sso', config({})),
          resource('core/ignition/security-properties', config({ systemAuthProfile: 'default', systemIdentityProvider: 'default' })),
        ),
      ),
      findings: Array.from({ length: 2 }, () => 'warning missing-reference core/ignition/security-properties'),
    },
    {
      fault: 'user sources of every gateway, and the default ones of this repository',
      files: withResource(
        resource('core/ignition/user-source/staff', config({})),
        resource('core/ignition/identity-provider/sso', config({})),
        resource('core/ignition/identity-provider/default', config({})),
        resource('core/ignition/security-properties', config({ systemAuthProfile: 'default', systemIdentityProvider: 'default' })),
        resource('core/com.inductiveautomation.opcua/server-config', config({ authenticationProfile: 'opcua-module' })),
      ),
      findings: [],
    },
    {
      fault: 'an identity provider',
      files: withResource(
        resource('core/ignition/identity-provider/sso', config({})),
        resource('core/ignition/security-properties', config({ systemIdentityProvider: 'ssso' })),
      ),
      findings: ['warning missing-reference core/ignition/security-properties'],
    },
    {
      fault: 'tags without their tag provider',
      files: withResource(types('core/ignition/tag-definition/packing/Area', [])),
      findings: ['warning missing-reference core/ignition/tag-definition/packing'],
    },
    {
      fault: 'tags of the provider that is built in',
      files: withResource(types('core/ignition/tag-definition/System/Gateway', [])),
      findings: [],
    },
  ],
  'unknown-tag-type': [
    { fault: 'an instance of no type', files: withTypes(instance('Moter')), findings: [`warning unknown-tag-type ${tags}`] },
    { fault: 'a type in a folder', files: withTypes(instance('Belt')), findings: [`warning unknown-tag-type ${tags}`] },
    {
      fault: 'types that exist, however they are written',
      files: withTypes(instance('motor'), instance('Drives/Belt'), instance('[line]_types_/Motor'), instance('{kind}'), instance('')),
      findings: [],
    },
    {
      fault: 'within another type',
      files: withTypes({ name: 'Hall', tagType: 'Folder', tags: [instance('gone')] }),
      findings: [`warning unknown-tag-type ${tags}`],
    },
    {
      fault: 'a provider whose types come from elsewhere',
      files: withResource(types('core/ignition/tag-definition/line/Area/Hall', [instance('gone')])),
      findings: [],
    },
  ],
  'tag-type-cycle': [
    {
      fault: 'a type that inherits from a type made of it',
      files: withResource(
        types(typeFolder, [
          { name: 'A', tagType: 'UdtType', typeId: 'B' },
          { name: 'B', tagType: 'UdtType', tags: [{ ...instance('[line]_types_/A') }] },
        ]),
      ),
      findings: [`warning tag-type-cycle ${typeFolder}`],
    },
    {
      fault: 'over two folders',
      files: withResource(
        types(typeFolder, [{ name: 'A', tagType: 'UdtType', typeId: 'Drives/B' }]),
        types(`${typeFolder}/Drives`, [{ name: 'B', tagType: 'UdtType', typeId: 'A' }]),
      ),
      findings: [`warning tag-type-cycle ${typeFolder}`],
    },
    {
      fault: 'two types with the same parent',
      files: withResource(
        types(typeFolder, [
          { name: 'A', tagType: 'UdtType' },
          { name: 'B', tagType: 'UdtType', typeId: 'A' },
          { name: 'C', tagType: 'UdtType', typeId: 'A' },
        ]),
      ),
      findings: [],
    },
  ],
  'repeated-tag': [
    {
      fault: 'two tags of a folder',
      files: withResource(types(tags, [atomic('A'), atomic('A')])),
      findings: [`warning repeated-tag ${tags}`],
    },
    {
      fault: 'two tags of a folder within',
      files: withResource(types(tags, [{ name: 'Hall', tagType: 'Folder', tags: [atomic('A'), atomic('A')] }])),
      findings: [`warning repeated-tag ${tags}`],
    },
    {
      fault: 'a type that two files define',
      files: withResource(
        types(typeFolder, [{ name: 'Drives', tagType: 'Folder', tags: [{ name: 'Belt', tagType: 'UdtType' }] }]),
        types(`${typeFolder}/Drives`, [{ name: 'Belt', tagType: 'UdtType' }]),
      ),
      findings: [`warning repeated-tag ${typeFolder}/Drives`],
    },
    {
      fault: 'the same name in two folders',
      files: withResource(
        types(tags, [
          { name: 'A', tagType: 'Folder', tags: [atomic('A')] },
          { name: 'B', tagType: 'Folder', tags: [atomic('A')] },
        ]),
      ),
      findings: [],
    },
  ],
  'duplicate-uuid': [
    {
      fault: 'a copied folder',
      files: withResource(uuid('core/ignition/schedule/day', 'u-1'), uuid('core/ignition/schedule/day copy', 'u-1')),
      findings: ['warning duplicate-uuid core/ignition/schedule/day copy'],
    },
    {
      fault: 'an override has the uuid of what it overrides',
      files: withResource(
        uuid('core/ignition/schedule/day', 'u-1'),
        uuid('dev/ignition/schedule/day', 'u-1'),
        uuid('prod/ignition/schedule/day', 'u-1'),
      ),
      findings: [],
    },
  ],
  'same-value-in-modes': [
    {
      fault: 'prod talks to the database of dev',
      files: withResource(database('dev', 'erp', 'db.example.com:5432'), database('prod', 'erp', 'DB.example.com:5432')),
      findings: ['warning same-value-in-modes prod/ignition/database-connection/erp'],
    },
    {
      fault: 'two modes with one PLC',
      files: withResource(device('dev', { hostname: '10.20.4.55', port: 502 }), device('prod', { hostname: '10.20.4.55', port: 502 })),
      findings: ['warning same-value-in-modes prod/com.inductiveautomation.opcua/device/press'],
    },
    {
      fault: 'two devices behind one address',
      files: withResource(device('dev', { hostname: '10.20.4.55', port: 502 }), device('prod', { hostname: '10.20.4.55', port: 503 })),
      findings: [],
    },
    {
      fault: 'names that each network resolves for itself, and the gateway itself',
      files: withResource(
        database('dev', 'erp', 'timescaledb:5432'),
        database('prod', 'erp', 'timescaledb:5432'),
        device('dev', { hostname: 'localhost' }),
        device('prod', { hostname: 'localhost' }),
      ),
      findings: [],
    },
    {
      fault: 'a mode that inherits from the other',
      files: withResource(
        { [`${root}/prod-north/config-mode.json`]: modeJson('North', 'prod') },
        device('prod', { hostname: '10.20.4.55', port: 502 }),
        device('prod-north', { hostname: '10.20.4.55', port: 502, timeout: 1 }),
      ),
      findings: [],
    },
  ],
} satisfies Partial<Record<RuleId, Row[]>>

export const references = Object.fromEntries(
  Object.entries(rows).map(([rule, own]) => [rule, own.map((row: Row) => ({ options, ...row }))]),
) as unknown as Record<keyof typeof rows, Row[]>
