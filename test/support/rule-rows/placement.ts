/**
 * Rows about where resources stand: in which collection, and under which name.
 */
import type { RuleId } from '../../../runtime/collections/rules/rules.ts'
import { config, layoutTree, modeJson, resource, root } from '../collection-tree.ts'
import { changed, manifest, withResource, type Row } from './row.ts'

const withFirstBoot: Row['options'] = {
  severity: (rule, _path, usual) => (rule === 'first-boot-conflict' ? 'warning' : usual),
}

/** The header of an encrypted value, which names the key where that is a custom one. */
const header = (fields: object): string => Buffer.from(JSON.stringify(fields)).toString('base64url')

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
      fault: 'a misspelt type',
      files: withResource(resource('core/ignition/databse-connection/erp', config({ a: 1 }))),
      findings: ['warning misplaced-type core/ignition/databse-connection'],
    },
    {
      fault: 'a misspelt module in a mode',
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
  'environment-resource-in-core': [
    {
      fault: 'an alarm journal in core that one of two modes overrides',
      files: withResource(
        resource('core/ignition/alarm-journal/journal', config({ profile: { type: 'datasource' } })),
        resource('dev/ignition/alarm-journal/journal', config({ profile: { type: 'local' } })),
      ),
      findings: ['warning environment-resource-in-core core/ignition/alarm-journal/journal'],
    },
    {
      fault: 'an alarm journal in core that nobody overrides',
      files: withResource(resource('core/ignition/alarm-journal/journal', config({ profile: { type: 'datasource' } }))),
      findings: [],
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
  ],
  'host-or-credential-in-core': [
    {
      fault: 'a database in core',
      files: withResource(
        resource('core/ignition/database-connection/erp', config({ connectURL: 'jdbc:sqlserver://erp.example.com;x=1' })),
      ),
      findings: ['warning host-or-credential-in-core core/ignition/database-connection/erp'],
    },
    {
      fault: 'an encrypted password in core',
      files: withResource(
        resource(
          'core/com.example.module/server/a',
          config({ password: { type: 'Embedded', data: { ciphertext: 'a', encrypted_key: 'b' } } }),
        ),
      ),
      findings: ['warning host-or-credential-in-core core/com.example.module/server/a'],
    },
    {
      fault: 'a password in core that is encrypted with the key of every installation',
      files: withResource(
        resource(
          'core/com.example.module/server/a',
          config({
            password: { type: 'Embedded', data: { ciphertext: 'a', encrypted_key: 'b', protected: header({ alg: 'A256GCMKW' }) } },
          }),
        ),
      ),
      findings: ['warning host-or-credential-in-core core/com.example.module/server/a'],
    },
    {
      fault: 'a repository without modes',
      isAlone: true,
      files: Object.assign(
        layoutTree([]),
        resource('core/ignition/database-connection/erp', config({ connectURL: 'jdbc:sqlserver://erp.example.com;x=1' })),
      ),
      findings: [],
    },
    {
      fault: 'an address of a device',
      files: withResource(resource('core/com.inductiveautomation.opcua/device/plc', config({ settings: { hostname: 'plc-7' } }))),
      findings: ['warning host-or-credential-in-core core/com.inductiveautomation.opcua/device/plc'],
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
      files: withResource(resource('dev/ignition/tag-type-definition/line', { 'udts.json': '{}' }, { manifest: 'unary-resource.json' })),
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
      files: withResource(resource('external/ignition/security-properties', config({}))),
      findings: ['warning hidden-in-external external/ignition/security-properties'],
    },
  ],
  'cache-committed': [
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
      findings: ['warning local-committed local', 'warning listed-file-missing local/com.inductiveautomation.opcua/uuid/resource.json'],
    },
  ],
  'forbidden-name': [
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
