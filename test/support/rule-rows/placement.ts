/**
 * Rows about the placement of resources: their collection and their name.
 */
import type { RuleId } from '../../../runtime/validation/rules/rules.ts'
import { config, modeJson, resource, root } from '../collection-tree.ts'
import { perspective, projectJson, projectRoot, validProjects, view } from '../project-tree.ts'
import { changed, manifest, withResource, type Row } from './row.ts'

const withFirstBoot: Row['options'] = {
  severity: (rule, _path, usual) => (rule === 'first-boot-conflict' ? 'warning' : usual),
}

/** With these, the core of a valid tree is complete. */
export const otherSingletons = ['security-properties', 'general-alarm-settings', 'gateway-network-settings'].map((name) =>
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
      files: withResource(resource('external/ignition/security-properties', config({})), ...otherSingletons.slice(1)),
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
