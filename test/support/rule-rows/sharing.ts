/**
 * Rows about what deployment modes share, and what belongs to a single gateway or mode.
 */
import type { RuleId } from '../../../runtime/validation/rules/rules.ts'
import { config, layoutTree, modeJson, resource, root } from '../collection-tree.ts'
import { withResource, type Row } from './row.ts'
import { otherSingletons } from './placement.ts'

/** The header of an encrypted value, which names a custom key. */
const header = (fields: object): string => Buffer.from(JSON.stringify(fields)).toString('base64url')

const secret = {
  type: 'Embedded',
  data: { ciphertext: 'a', encrypted_key: 'b', iv: 'c', tag: 'd', protected: header({ alg: 'A256GCMKW' }) },
}

export const sharing = {
  'belongs-in-mode': [
    ...Object.entries({
      'database-connection': { profile: {} },
      'alarm-journal': { profile: { type: 'DATASOURCE' } },
      'gateway-network-outgoing': { useSSL: true },
      'gateway-network-incoming': { useSSL: true },
      'identity-provider': { profile: { type: 'saml' } },
      'user-source': { profile: { type: 'INTERNAL' } },
      'tag-provider': { profile: { type: 'REMOTE' } },
    }).flatMap(([type, value]) =>
      ['core', 'external'].map((collection) => {
        const folder = `${collection}/ignition/${type}/other`
        return {
          fault: `${folder} that no mode overrides`,
          files: withResource(resource(folder, config(value))),
          findings: [`warning belongs-in-mode ${folder}`],
        }
      }),
    ),
    {
      fault: 'an alarm journal that one of two modes overrides',
      files: withResource(
        resource('core/ignition/alarm-journal/journal', config({ profile: { type: 'datasource' } })),
        resource('dev/ignition/alarm-journal/journal', config({ profile: { type: 'local' } })),
      ),
      findings: ['warning belongs-in-mode core/ignition/alarm-journal/journal'],
    },
    {
      fault: 'overridden by every mode',
      files: withResource(
        resource('core/ignition/alarm-journal/journal', config({ a: 1 })),
        resource('dev/ignition/alarm-journal/journal', config({ a: 2 })),
        resource('prod/ignition/alarm-journal/journal', config({ a: 3 })),
      ),
      findings: [],
    },
    {
      fault: 'a default on the same machine, which a mode overrides',
      files: withResource(
        resource('core/ignition/database-connection/erp', config({ connectURL: 'jdbc:postgresql://localhost/erp', password: secret })),
        resource('prod/ignition/database-connection/erp', config({ connectURL: 'jdbc:postgresql://erp.example.com/erp' })),
      ),
      findings: [],
    },
    {
      fault: 'what every gateway has, a database in a file, tag providers of the gateway itself, and the left column of the table',
      files: withResource(
        resource('core/ignition/identity-provider/default', config({ profile: {} })),
        resource('core/ignition/database-connection/sample', config({ connectURL: 'jdbc:sqlite:${data}/local/sample.db' })),
        resource('core/ignition/tag-provider/hall', config({ profile: { type: 'STANDARD' } })),
        resource('core/com.inductiveautomation.perspective/themes/light', { 'index.css': '' }),
        resource('core/com.inductiveautomation.opcua/device/sim', config({ profile: { type: 'ProgrammableSimulatorDevice' } })),
        resource('core/ignition/tag-type-definition/line', { 'udts.json': '[]' }, { manifest: 'unary-resource.json' }),
        resource('core/ignition/translations', { 'de.json': '{}' }),
        ...otherSingletons,
      ),
      findings: [],
    },
    {
      fault: 'a tree without modes gets one finding for all',
      isAlone: true,
      files: Object.assign(
        layoutTree([]),
        resource('core/ignition/database-connection/erp', config({ connectURL: 'jdbc:sqlserver://erp.example.com;x=1' })),
        resource('core/ignition/alarm-journal/journal', config({ a: 1 })),
        resource('external/ignition/user-source/staff', config({ a: 1 })),
        { [`${root}/external/config-mode.json`]: modeJson('External', 'system') },
      ),
      findings: ['warning belongs-in-mode core'],
    },
  ],
  'machine-identity-shared': [
    ...['uuid', 'server-keystore', 'client-keystore'].map((name) => ({
      fault: `${name} of OPC UA in core`,
      files: withResource(resource(`core/com.inductiveautomation.opcua/${name}`, { 'data.bin': 'x' })),
      findings: [`warning machine-identity-shared core/com.inductiveautomation.opcua/${name}`],
    })),
    {
      fault: 'the system UID in settings of external',
      files: withResource(resource('external/ignition/cobranding', config({ systemUID: '5b1e' }))),
      findings: ['warning machine-identity-shared external/ignition/cobranding'],
    },
    { fault: 'other ids', files: withResource(resource('core/ignition/cobranding', config({ uid: '5b1e' }))), findings: [] },
  ],
  'host-or-credential-shared': [
    {
      fault: 'a database in core',
      files: withResource(
        resource('core/ignition/database-connection/erp', config({ connectURL: 'jdbc:sqlserver://erp.example.com;x=1' })),
      ),
      findings: ['warning host-or-credential-shared core/ignition/database-connection/erp'],
    },
    {
      fault: 'an encrypted password in core',
      files: withResource(
        resource(
          'core/com.example.module/server/a',
          config({
            password: {
              type: 'Embedded',
              data: { ciphertext: 'a', encrypted_key: 'b', iv: 'c', tag: 'd', protected: header({ kid: 'plant' }) },
            },
          }),
        ),
      ),
      findings: ['warning host-or-credential-shared core/com.example.module/server/a'],
    },
    {
      fault: 'a password in core that is encrypted with the key of every installation',
      files: withResource(
        resource(
          'core/com.example.module/server/a',
          config({
            password: {
              type: 'Embedded',
              data: { ciphertext: 'a', encrypted_key: 'b', iv: 'c', tag: 'd', protected: header({ alg: 'A256GCMKW' }) },
            },
          }),
        ),
      ),
      findings: ['warning host-or-credential-shared core/com.example.module/server/a'],
    },
    ...Object.entries({
      'a connection string': { connectionString: 'Server=sql01.plant.local;Database=erp;User Id=sa;Password=S3cret' },
      'a connection string without a password': { connectionString: 'Server=sql01;Database=erp;Integrated Security=true' },
      'an ODBC data source': { connection: 'DSN=PlantSql;UID=sa' },
      'an IPv6 literal': { target: 'fd00:20::15' },
      'an IPv4 address': { target: '10.20.4.55' },
      'a mail server': { smtpServer: 'mail01' },
      'the name of a server': { serverName: 'Ignition-north' },
      'a host and port': { device: 'plc01:502' },
      'a domain name under any key': { label: 'historian.plant.example.com' },
      'a list of hosts': { hosts: ['localhost', 'broker-1'] },
      'a short key for a password': { pwd: 'hunter2' },
      'a header': { authorization: 'Basic cGxhbnQ6aHVudGVyMg==' },
      'a bearer token under any key': { header: 'Bearer 0123456789abcdef' },
      'a URL with a password': { endpoint: 'https://user:hunter2@localhost/api' },
      'a password in connection properties': { connectionProps: 'encrypt=true;password=hunter2' },
      'an API key': { apiKey: '0123456789abcdef' },
    }).flatMap(([fault, value]) =>
      ['core', 'external'].map((collection) => ({
        fault: `${fault} in ${collection}`,
        files: withResource(resource(`${collection}/com.example.module/server/a`, config({ settings: value }))),
        findings: [`warning host-or-credential-shared ${collection}/com.example.module/server/a`],
      })),
    ),
    {
      fault: 'what only resembles one',
      files: withResource(
        resource(
          'core/com.example.module/server/a',
          config({
            type: 'com.example.module.ServerType',
            file: 'index.css',
            schedule: 'basic schedule',
            time: '8:00-11:45',
            register: 'HR40001:16',
            props: 'zeroDateTimeBehavior=CONVERT_TO_NULL;connectTimeout=120000;',
            database: 'databaseName=Training',
            path: '[default]Area/Line.Speed',
            cron: '15 1 * * *',
            version: '8.3.1.0',
            class: 'java.util.net',
            expression: 'std::string',
            error: { smtpServer: '', errorReportPassword: secret },
          }),
        ),
        resource('core/com.cirruslink.mqtt.engine.gateway/server/Chariot SCADA', config({ url: 'tcp://localhost:1883', password: secret })),
      ),
      findings: [],
    },
    {
      fault: 'an address of a device',
      files: withResource(resource('core/com.inductiveautomation.opcua/device/plc', config({ settings: { hostname: 'plc-7' } }))),
      findings: ['warning host-or-credential-shared core/com.inductiveautomation.opcua/device/plc'],
    },
    {
      fault: 'loopback, multicast, templates',
      files: withResource(
        resource(
          'core/com.example.module/server/a',
          config({
            url: 'tcp://127.0.0.1:1883',
            host: 'localhost',
            group: '239.1.2.3',
            other: 'tcp://{{ vars.host }}:1',
            path: 'jdbc:sqlite:/a.db',
          }),
        ),
      ),
      findings: [],
    },
  ],
  'shared-resource-in-mode': [
    {
      fault: 'tag types in a mode',
      files: withResource(resource('dev/ignition/tag-type-definition/line', { 'udts.json': '[]' }, { manifest: 'unary-resource.json' })),
      findings: ['warning shared-resource-in-mode dev/ignition/tag-type-definition'],
    },
    {
      fault: 'a simulated device in a mode',
      files: withResource(
        resource('dev/com.inductiveautomation.opcua/device/sim', config({ profile: { type: 'ProgrammableSimulatorDevice' } })),
      ),
      findings: ['warning shared-resource-in-mode dev/com.inductiveautomation.opcua/device/sim'],
    },
    {
      fault: 'a simulated device in one mode in place of the real one in another',
      files: withResource(
        resource('dev/com.inductiveautomation.opcua/device/press', config({ profile: { type: 'ProgrammableSimulatorDevice' } })),
        resource('prod/com.inductiveautomation.opcua/device/press', config({ settings: { hostname: 'press-plc' } })),
      ),
      findings: [],
    },
  ],
} satisfies Partial<Record<RuleId, Row[]>>
