/**
 * Rows about what resources say of each other.
 */
import type { RuleId } from '../../../runtime/collections/rules/rules.ts'
import { config, type Files, modeJson, resource, root } from '../collection-tree.ts'
import { type Row, withResource } from './row.ts'

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
const instance = (typeId: string): object => ({ name: 'M1', tagType: 'UdtInstance', typeId })
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

export const references = {
  'missing-in-mode': [
    {
      fault: 'a database connection of one mode only',
      files: withResource(database('dev', 'erp', 'erp.dev.example.com')),
      findings: ['warning missing-in-mode dev/ignition/database-connection/erp'],
    },
    {
      fault: 'two of three modes have it',
      files: withResource(
        { [`${root}/test/config-mode.json`]: modeJson('Test', 'core') },
        database('test', 'historian', 'db.test.example.com'),
        database('dev', 'erp', 'erp.dev.example.com'),
        database('test', 'erp', 'erp.test.example.com'),
      ),
      findings: ['warning missing-in-mode dev/ignition/database-connection/erp'],
    },
    {
      fault: 'a mode that was only just made',
      files: withResource({ [`${root}/test/config-mode.json`]: modeJson('Test', 'core') }),
      findings: [],
    },
    { fault: 'a device belongs to one plant', files: withResource(device('prod', { hostname: 'plc.example.com' })), findings: [] },
    {
      fault: 'a mode has it from the one that it inherits from',
      files: withResource(
        { [`${root}/prod-north/config-mode.json`]: modeJson('North', 'prod') },
        database('dev', 'erp', 'erp.dev.example.com'),
        database('prod', 'erp', 'erp.prod.example.com'),
      ),
      findings: [],
    },
    {
      fault: 'core is not delivered and may hold it',
      files: withResource(database('dev', 'erp', 'erp.dev.example.com')),
      options: { coreDelivered: false },
      findings: [],
    },
  ],
  'missing-reference': [
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
      findings: [
        'warning missing-reference core/ignition/alarm-journal/plant',
        'warning missing-in-mode dev/ignition/database-connection/erp',
      ],
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
      findings: [],
    },
    {
      fault: 'user sources and identity providers that every gateway has',
      files: withResource(
        resource('core/ignition/user-source/staff', config({})),
        resource('core/ignition/identity-provider/sso', config({})),
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
  'same-target-in-modes': [
    {
      fault: 'prod talks to the database of dev',
      files: withResource(database('dev', 'erp', 'db.example.com:5432'), database('prod', 'erp', 'DB.example.com:5432')),
      findings: ['warning same-target-in-modes prod/ignition/database-connection/erp'],
    },
    {
      fault: 'two modes with one PLC',
      files: withResource(device('dev', { hostname: '10.20.4.55', port: 502 }), device('prod', { hostname: '10.20.4.55', port: 502 })),
      findings: ['warning same-target-in-modes prod/com.inductiveautomation.opcua/device/press'],
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
