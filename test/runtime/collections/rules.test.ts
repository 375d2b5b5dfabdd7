import t from 'tap'
import { checkCollections, type CheckOptions } from '../../../runtime/collections/check.ts'
import { listingOf } from '../../../runtime/collections/listing.ts'
import { type RuleId, ruleIds, rules } from '../../../runtime/collections/rules.ts'
import { config, type Files, layouts, layoutTree, modeJson, resource, root, validTree } from '../../support/collection-tree.ts'

const signal = new AbortController().signal

async function found(files: Files, options: Partial<CheckOptions> = {}): Promise<string[]> {
  const { findings } = await checkCollections(listingOf(files), { root, ...options }, signal)
  return findings.map(({ rule, severity, path }) => `${severity} ${rule} ${path.replace(`${root}/`, '')}`)
}

/** The tree with some files changed; null deletes. */
function changed(changes: Record<string, string | null>, base = validTree()): Files {
  const files = { ...base }
  for (const [path, content] of Object.entries(changes)) {
    if (content === null) delete files[`${root}/${path}`]
    else files[`${root}/${path}`] = content
  }
  return files
}

const withResource = (...added: Files[]): Files => Object.assign(validTree(), ...added) as Files
const systemProperties = 'core/ignition/system-properties/resource.json'
const manifest = (more: object): string =>
  JSON.stringify({ scope: 'A', version: 1, restricted: false, overridable: true, files: ['config.json'], attributes: {}, ...more })

type Row = { fault: string; files: Files; findings: string[]; options?: Partial<CheckOptions> }

const rows: Record<RuleId, Row[]> = {
  'missing-config-mode': [
    {
      fault: 'a mode without manifest',
      files: changed({ 'dev/config-mode.json': null }),
      findings: ['error missing-config-mode dev'],
    },
    {
      fault: 'core without manifest',
      files: changed({ 'core/config-mode.json': null }),
      findings: ['error missing-config-mode core'],
    },
    {
      fault: 'external without manifest',
      files: changed({ 'external/config-mode.json': null }),
      findings: ['error missing-config-mode external'],
    },
  ],
  'invalid-config-mode': [
    { fault: 'not JSON', files: changed({ 'dev/config-mode.json': '{' }), findings: ['error invalid-config-mode dev/config-mode.json'] },
    { fault: 'a list', files: changed({ 'dev/config-mode.json': '[]' }), findings: ['error invalid-config-mode dev/config-mode.json'] },
    {
      fault: 'enabled as text',
      files: changed({ 'dev/config-mode.json': modeJson('Dev', 'core', { enabled: 'true' }) }),
      findings: ['error invalid-config-mode dev/config-mode.json'],
    },
    {
      fault: 'no parent',
      files: changed({ 'dev/config-mode.json': '{"title":"Dev","enabled":true,"inheritable":true}' }),
      findings: ['error invalid-config-mode dev/config-mode.json'],
    },
  ],
  'unknown-collection-key': [
    {
      fault: 'a misspelt key',
      files: changed({ 'dev/config-mode.json': modeJson('Dev', 'core', { inheritible: true }) }),
      findings: ['warning unknown-collection-key dev/config-mode.json'],
    },
  ],
  'unknown-parent': [
    {
      fault: 'a parent without folder',
      files: changed({ 'dev/config-mode.json': modeJson('Dev', 'base') }),
      findings: ['error unknown-parent dev/config-mode.json'],
    },
  ],
  'unexpected-parent': [
    {
      fault: 'core under system',
      files: changed({ 'core/config-mode.json': modeJson('Core', 'system') }),
      findings: ['warning unexpected-parent core/config-mode.json'],
    },
  ],
  'parent-cycle': [
    {
      fault: 'two modes under each other',
      files: changed({ 'dev/config-mode.json': modeJson('Dev', 'prod'), 'prod/config-mode.json': modeJson('Prod', 'Dev') }),
      findings: ['error parent-cycle dev/config-mode.json'],
    },
    {
      fault: 'a mode under itself',
      files: changed({ 'dev/config-mode.json': modeJson('Dev', 'dev') }),
      findings: ['error parent-cycle dev/config-mode.json'],
    },
  ],
  'parent-disabled': [
    {
      fault: 'a disabled parent',
      files: changed({
        'dev/config-mode.json': modeJson('Dev', 'prod'),
        'prod/config-mode.json': modeJson('Prod', 'core', { enabled: false }),
      }),
      findings: ['warning parent-disabled dev/config-mode.json'],
    },
  ],
  'parent-not-inheritable': [
    {
      fault: 'a parent that is not inheritable',
      files: changed({
        'dev/config-mode.json': modeJson('Dev', 'prod'),
        'prod/config-mode.json': modeJson('Prod', 'core', { inheritable: false }),
      }),
      findings: ['error parent-not-inheritable dev/config-mode.json'],
    },
  ],
  'collection-disabled': [
    {
      fault: 'a disabled mode',
      files: changed({ 'dev/config-mode.json': modeJson('Dev', 'core', { enabled: false }) }),
      findings: ['warning collection-disabled dev/config-mode.json'],
    },
  ],
  'mode-without-folder': [
    {
      fault: 'a mode in use without folder',
      files: validTree(),
      options: { modesInUse: ['dev', 'staging'] },
      findings: ['warning mode-without-folder staging'],
    },
  ],
  'reserved-collection': [
    {
      fault: 'a system folder',
      files: withResource(resource('system/ignition/cobranding', config({}))),
      findings: ['warning reserved-collection system'],
    },
  ],
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
  'environment-resource-in-core': [
    {
      fault: 'an alarm journal in core',
      files: withResource(resource('core/ignition/alarm-journal/journal', config({ profile: { type: 'datasource' } }))),
      findings: ['warning environment-resource-in-core core/ignition/alarm-journal/journal'],
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
  ],
  'invalid-resource-json': [
    {
      fault: 'not JSON',
      files: changed({ [systemProperties]: '<<<<<<< HEAD' }),
      findings: [`error invalid-resource-json ${systemProperties}`],
    },
    {
      fault: 'files is no list',
      files: changed({ [systemProperties]: manifest({ files: 'config.json' }) }),
      findings: [`error invalid-resource-json ${systemProperties}`],
    },
  ],
  'missing-attributes': [
    {
      fault: 'no attributes',
      files: changed({ [systemProperties]: manifest({ attributes: undefined }) }),
      findings: [`error missing-attributes ${systemProperties}`],
    },
  ],
  'listed-file-missing': [
    {
      fault: 'a listed file is absent',
      files: changed({ 'core/ignition/security-levels/config.json': null }),
      findings: ['error listed-file-missing core/ignition/security-levels/resource.json'],
    },
  ],
  'unlisted-file': [
    {
      fault: 'a file that is not listed',
      files: changed({ 'core/ignition/security-levels/notes.txt': 'x' }),
      findings: ['warning unlisted-file core/ignition/security-levels/notes.txt'],
    },
    {
      fault: 'a resource below a resource',
      files: withResource(resource('core/ignition/tag-provider/line/below', {})),
      findings: ['warning unlisted-file core/ignition/tag-provider/line/below/resource.json'],
    },
  ],
  'missing-resource-json': [
    {
      fault: 'data without manifest',
      files: changed({ 'core/ignition/schedule/day/config.json': '{}' }),
      findings: ['warning missing-resource-json core/ignition/schedule/day'],
    },
  ],
  'stale-signature': [
    {
      fault: 'a file edited by hand',
      files: changed({ 'core/ignition/security-levels/config.json': '{"levels":[1]}' }),
      findings: ['warning stale-signature core/ignition/security-levels/resource.json'],
    },
  ],
  'override-identical': [
    {
      fault: 'an override that equals its base',
      files: withResource(resource('dev/ignition/tag-provider/line', config({ profile: { type: 'STANDARD' } }))),
      findings: ['warning override-identical dev/ignition/tag-provider/line'],
    },
    {
      fault: 'it is compared with the nearest base',
      files: withResource(
        { [`${root}/line-1/config-mode.json`]: modeJson('Line 1', 'dev') },
        resource('line-1/ignition/system-properties', config({ systemName: 'plant', multicastIPAddr: '231.1.1.1' })),
      ),
      findings: [],
    },
  ],
  'override-forbidden': [
    {
      fault: 'a base that is not overridable',
      files: withResource(
        resource('core/ignition/schedule/day', config({ a: 1 }), { more: { overridable: false } }),
        resource('dev/ignition/schedule/day', config({ a: 2 })),
      ),
      findings: ['warning override-forbidden dev/ignition/schedule/day'],
    },
  ],
  'first-boot-conflict': [
    {
      fault: 'quickstart in core',
      files: withResource(resource('core/ignition/quickstart', config({}))),
      findings: ['warning first-boot-conflict core/ignition/quickstart'],
    },
    {
      fault: 'one-time in core',
      files: withResource(resource('core/com.inductiveautomation.opcua/one-time', config({}))),
      findings: ['warning first-boot-conflict core/com.inductiveautomation.opcua/one-time'],
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
      files: withResource({ [`${root}/-dev/config-mode.json`]: modeJson('Dev', 'core') }),
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
  'orphan-file': [
    { fault: 'a file in the root', files: changed({ 'notes.txt': 'x' }), findings: ['warning orphan-file notes.txt'] },
    {
      fault: 'a file in a module',
      files: changed({ 'core/ignition/notes.txt': 'x' }),
      findings: ['warning orphan-file core/ignition/notes.txt'],
    },
  ],
}

void t.test('nothing is found in a valid tree', async (t) => {
  t.same(await found(validTree()), [])
})

for (const [name, modes] of Object.entries(layouts)) {
  void t.test(`nothing is found in the ${name} layout`, async (t) => {
    t.same(await found(layoutTree(modes)), [])
  })
}

void t.test('each rule has a row', async (t) => {
  t.same(Object.keys(rows).toSorted(), ruleIds.toSorted())
})

for (const rule of ruleIds) {
  for (const { fault, files, findings, options } of rows[rule]) {
    void t.test(`${rule}: ${fault}`, async (t) => {
      t.same(await found(files, options), findings)
    })
  }
}

void t.test('each finding says what to do', async (t) => {
  for (const rule of ruleIds) {
    for (const { files, options } of rows[rule]) {
      const { findings } = await checkCollections(listingOf(files), { root, ...options }, signal)
      for (const finding of findings) {
        t.equal(finding.help, rules[finding.rule].fix)
        t.ok(finding.message.length > 0 && finding.message.length < 400, finding.message)
      }
    }
  }
})

void t.test('a credential never stands in a finding', async (t) => {
  const secret = 'hunter2-hunter2'
  const files = withResource(
    resource('core/com.example.module/server/a', config({ password: secret, url: `https://user:${secret}@host.example.com/` })),
  )
  const { findings } = await checkCollections(listingOf(files), { root }, signal)
  t.equal(findings.length, 1)
  t.notMatch(JSON.stringify(findings), secret)
})
