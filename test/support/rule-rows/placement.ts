/**
 * Rows about the placement of resources: their collection and their name.
 */
import type { RuleId } from '../../../runtime/validation/rules/rules.ts'
import { config, layoutTree, modeJson, resource, root } from '../collection-tree.ts'
import { perspective, projectJson, projectRoot, validProjects, view } from '../project-tree.ts'
import { changed, manifest, withResource, type Row } from './row.ts'

const withFirstBoot: Row['options'] = {
  severity: (rule, _path, usual) => (rule === 'first-boot-conflict' ? 'warning' : usual),
}

/** The header of an encrypted value, which names a custom key. */
const header = (fields: object): string => Buffer.from(JSON.stringify(fields)).toString('base64url')

const secret = {
  type: 'Embedded',
  data: { ciphertext: 'a', encrypted_key: 'b', iv: 'c', tag: 'd', protected: header({ alg: 'A256GCMKW' }) },
}

/** With these, the core of a valid tree is complete. */
const others = ['security-properties', 'general-alarm-settings', 'gateway-network-settings'].map((name) =>
  resource(`core/ignition/${name}`, config({ a: 1 })),
)

export const placement = {
  'singleton-only-in-mode': [
    {
      fault: 'a known singleton',
      files: withResource(resource('dev/ignition/cobranding', config({ a: 1 }))),
      findings: ['error singleton-only-in-mode dev/ignition/cobranding'],
    },
    {
      fault: 'an unknown type with its manifest in the folder of the type',
      files: withResource(resource('dev/com.example.module/settings', config({ a: 1 }))),
      findings: ['error singleton-only-in-mode dev/com.example.module/settings'],
    },
    {
      fault: 'core is not delivered',
      files: withResource(resource('dev/ignition/cobranding', config({ a: 1 }))),
      options: { coreDelivered: false },
      findings: ['warning singleton-only-in-mode dev/ignition/cobranding'],
    },
    {
      fault: 'what gateways keep in local is never demanded',
      files: withResource(resource('dev/com.inductiveautomation.opcua/uuid', { 'uuid.txt': 'x' })),
      findings: [],
    },
  ],
  'singleton-with-name': [
    {
      fault: 'a name below a singleton',
      files: withResource(resource('core/ignition/cobranding/mine', config({}))),
      findings: ['warning singleton-with-name core/ignition/cobranding/mine'],
    },
  ],
  'misplaced-type': [
    {
      fault: 'a misspelled type',
      files: withResource(resource('core/ignition/databse-connection/erp', config({ a: 1 }))),
      findings: ['warning misplaced-type core/ignition/databse-connection'],
    },
    {
      fault: 'a misspelled module in a mode',
      files: withResource(resource('dev/com.inductiveautomation.opcau/device/press', config({ a: 1 }))),
      findings: ['warning misplaced-type dev/com.inductiveautomation.opcau/device'],
    },
    {
      fault: 'a type in another module',
      files: withResource(resource('core/ignition/device/press', config({ a: 1 }))),
      findings: ['warning misplaced-type core/ignition/device'],
    },
    {
      fault: 'the folder of the module was forgotten',
      files: withResource(resource('dev/database-connection/erp', config({ a: 1 }))),
      findings: ['warning misplaced-type dev/database-connection/erp'],
    },
    {
      fault: 'modules and types of other vendors, and types that are new',
      files: withResource(
        resource('core/com.example.database/connection/a', config({ a: 1 })),
        resource('core/com.inductiveautomation.sms/settings/a', config({ a: 1 })),
        resource('core/com.example.mes/device/a', config({ a: 1 })),
        resource('core/com.cirruslink.mqtt.injector.gateway/server/a', config({ a: 1 })),
        resource('core/ignition/event-stream/a', config({ a: 1 })),
      ),
      findings: [],
    },
  ],
  'missing-name-folder': [
    {
      fault: 'a database connection without a name in a mode',
      files: withResource(resource('dev/ignition/database-translator', config({ a: 1 }))),
      findings: ['warning missing-name-folder dev/ignition/database-translator'],
    },
    {
      fault: 'a schedule without a name in core',
      files: withResource(resource('core/ignition/schedule', config({ a: 1 }))),
      findings: ['warning missing-name-folder core/ignition/schedule'],
    },
    {
      fault: 'beside schedules with their names, which are not told of',
      files: withResource(resource('core/ignition/schedule', config({ a: 1 })), resource('core/ignition/schedule/night', config({ a: 1 }))),
      findings: ['warning missing-name-folder core/ignition/schedule'],
    },
  ],
  'name-too-deep': [
    {
      fault: 'a schedule in a folder of schedules',
      files: withResource(resource('core/ignition/schedule/shifts/night', config({ a: 1 }))),
      findings: ['warning name-too-deep core/ignition/schedule/shifts/night'],
    },
    {
      fault: 'tag groups and unknown types nest',
      files: withResource(
        resource('core/ignition/tag-group/line/fast', config({ a: 1 })),
        resource('core/com.example.module/recipe/a/b', config({ a: 1 })),
      ),
      findings: [],
    },
  ],
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
        ...others,
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
  'missing-singletons': [
    {
      fault: 'a core with most of them, and without its system properties',
      files: changed(
        {
          'core/ignition/system-properties/resource.json': null,
          'core/ignition/system-properties/config.json': null,
          'dev/ignition/system-properties/resource.json': null,
          'dev/ignition/system-properties/config.json': null,
          'prod/ignition/system-properties/resource.json': null,
          'prod/ignition/system-properties/config.json': null,
        },
        withResource(
          resource('core/ignition/gateway-network-settings', config({ a: 1 })),
          resource('core/ignition/general-alarm-settings', config({ a: 1 })),
        ),
      ),
      findings: ['warning missing-singletons core'],
      isAlone: true,
    },
    {
      fault: 'modes without any core',
      isAlone: true,
      files: { [`${root}/dev/config-mode.json`]: modeJson('Dev', 'core'), [`${root}/prod/config-mode.json`]: modeJson('Prod', 'core') },
      findings: ['warning missing-singletons core'],
    },
    {
      fault: 'external holds what core does not',
      files: withResource(
        resource('core/ignition/gateway-network-settings', config({ a: 1 })),
        resource('core/ignition/general-alarm-settings', config({ a: 1 })),
        resource('core/ignition/security-properties', config({ a: 1 })),
      ),
      findings: [],
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
  'first-boot-conflict': [
    {
      fault: 'quickstart in core',
      files: withResource(resource('core/ignition/quickstart', config({}))),
      options: withFirstBoot,
      findings: ['warning first-boot-conflict core/ignition/quickstart'],
    },
    {
      fault: 'one-time in core',
      files: withResource(resource('core/com.inductiveautomation.opcua/one-time', config({}))),
      options: withFirstBoot,
      findings: ['warning first-boot-conflict core/com.inductiveautomation.opcua/one-time'],
    },
    {
      fault: 'it is off where nobody asks for it',
      files: withResource(resource('core/ignition/quickstart', config({}))),
      findings: [],
    },
  ],
  'hidden-in-external': [
    {
      fault: 'security properties in external',
      files: withResource(resource('external/ignition/security-properties', config({})), ...others.slice(1)),
      findings: ['warning hidden-in-external external/ignition/security-properties'],
    },
  ],
  'cache-committed': [
    {
      fault: 'the cache of projects',
      files: { ...validProjects(), [`${projectRoot}/.resources/00ff`]: 'x' },
      options: { root: projectRoot, kind: 'projects' },
      findings: [`warning cache-committed ${projectRoot}/.resources`],
      isAlone: true,
    },
    {
      fault: 'the cache',
      files: changed({ '.resources/00ff': 'x', '.resources/.meta': 'x' }),
      findings: ['warning cache-committed .resources'],
    },
  ],
  'local-committed': [
    {
      fault: 'local',
      files: withResource(
        { [`${root}/local/config-mode.json`]: modeJson('Local', 'gone', { inheritable: false }) },
        resource('local/com.inductiveautomation.opcua/uuid', { 'uuid.txt': 'x' }),
      ),
      findings: ['warning local-committed local'],
    },
    {
      fault: 'a broken resource in local reaches nobody',
      files: withResource({
        [`${root}/local/config-mode.json`]: modeJson('Local', 'core', { inheritable: false }),
        [`${root}/local/com.inductiveautomation.opcua/uuid/resource.json`]: manifest({ files: ['uuid.txt'] }),
      }),
      findings: ['warning local-committed local'],
    },
  ],
  'forbidden-name': [
    {
      fault: 'a view with a question mark; names of projects are free',
      files: { ...validProjects(), ...view(`line-a/${perspective}/views/What?`), [`${projectRoot}/-odd/project.json`]: projectJson('Odd') },
      options: { root: projectRoot, kind: 'projects' },
      findings: [`warning forbidden-name ${projectRoot}/line-a/${perspective}/views/What?`],
      isAlone: true,
    },
    {
      fault: 'a colon in a name',
      files: withResource(resource('core/ignition/tag-provider/a:b', config({}))),
      findings: ['warning forbidden-name core/ignition/tag-provider/a:b'],
    },
    {
      fault: 'a hyphen first',
      files: withResource({ [`${root}/-dev/config-mode.json`]: modeJson('Dev', 'prod') }),
      findings: ['warning forbidden-name -dev'],
    },
  ],
  'case-collision': [
    {
      fault: 'two modes',
      files: withResource({ [`${root}/Dev/config-mode.json`]: modeJson('Dev', 'core') }),
      findings: ['error case-collision dev'],
    },
    {
      fault: 'two names',
      files: withResource(resource('core/ignition/tag-provider/Line', config({}))),
      findings: ['error case-collision core/ignition/tag-provider/line'],
    },
  ],
} satisfies Partial<Record<RuleId, Row[]>>
