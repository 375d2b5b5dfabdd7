/**
 * What templates and patches make of resource collections is judged on this gateway before it is published.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { isRuleId } from '../../../../runtime/collections/rules/rules.ts'
import type { ResolvedProfile } from '../../../../runtime/gatewaysync/decide/profile.ts'
import type { CycleResult } from '../../../../runtime/sync/cycle.ts'
import { maxRenderedBytes } from '../../../../runtime/sync/publish/large-blobs.ts'
import { config, resource, root, validTree } from '../../../support/collection-tree.ts'
import { profileOf, type Tree } from '../../../support/memory-source.ts'
import { syncedFolder } from '../../../support/synced-folder.ts'

function setUp(t: Pick<Test, 'teardown'>) {
  const { dataDir, sync } = syncedFolder(t, 'rendered')
  const read = (file: string): string => readFileSync(path.join(dataDir, 'config/resources', file), 'utf8')
  return { dataDir, sync, read }
}

/** Of the rules for collections. */
function findingsOf({ findings = [] }: CycleResult): string[] {
  const judged = findings.filter(({ rule }) => isRuleId(rule))
  return judged.map(({ rule, path }) => `${rule} ${path.replace('config/resources/', '')}`).toSorted()
}

const whole = (more: object = {}, vars: Record<string, string> = {}) =>
  profileOf([{ source: 'services/config', destination: 'config', ...more }], { vars })
const line = 'core/ignition/tag-provider/line'
/** A manifest that is JSON only where `vars.version` is a number. */
const templated: Tree = {
  ...validTree(),
  [`${root}/${line}/resource.json`]: '{"scope":"A","version":{{ vars.version }},"files":["config.json"],"attributes":{}}',
}
const template = (version: string): ResolvedProfile => whole({ template: true }, { version })

void t.test('a resource that a template breaks is refused, and nothing is written', async (t) => {
  const { dataDir, sync, read } = setUp(t)
  t.match(await sync(templated, template('1')), { phase: 'Synced' })
  const before = read(`${line}/resource.json`)
  const refused = await sync(templated, template('one'))
  t.match(refused, {
    phase: 'Blocked',
    reason: 'CollectionsInvalid',
    message: /tag-provider\/line\/resource\.json: is not JSON.*\(invalid-resource-json\)/,
  })
  t.same(findingsOf(refused), [`invalid-resource-json ${line}/resource.json`])
  t.equal(read(`${line}/resource.json`), before)
  t.notOk(existsSync(path.join(dataDir, '.cluster-sync/journal')))
  t.match(await sync(templated, template('2')), { phase: 'Synced', files: { changed: 1 } })
})

void t.test('a first sync with a broken resource writes no file at all', async (t) => {
  const { dataDir, sync } = setUp(t)
  t.match(await sync(templated, template('one')), { phase: 'Blocked', reason: 'CollectionsInvalid' })
  t.notOk(existsSync(path.join(dataDir, 'config')))
})

void t.test('a folder takes the place of a file that a template made', async (t) => {
  const { sync, read } = setUp(t)
  const file = `${root}/core/ignition/images/a`
  t.match(await sync({ ...templated, [file]: 'no folder yet' }, template('1')), { phase: 'Synced' })
  t.match(await sync({ ...templated, [`${file}/x.png`]: 'not really' }, template('1')), { phase: 'Synced' })
  t.equal(read('core/ignition/images/a/x.png'), 'not really')
})

void t.test('a file that is too large for a template is named, not another one with the same content', async (t) => {
  const { sync } = setUp(t)
  const large = 'x'.repeat(maxRenderedBytes + 1)
  const profile = profileOf([
    { source: 'plain', destination: 'projects/a' },
    { source: 'made', destination: 'projects/b', template: true },
  ])
  t.match(await sync({ 'plain/x': large, 'made/x': large }, profile), {
    phase: 'Blocked',
    reason: 'TemplateFailed',
    message: `"projects/b/x" has ${large.length} bytes`,
  })
})

void t.test('the policy Warn publishes and tells, Off says nothing, and the severity of a rule counts', async (t) => {
  const invalid = 'invalid-resource-json'
  for (const [validation, told] of [
    [{ policy: 'Warn', rules: {} }, [`${invalid} ${line}/resource.json`]],
    [{ policy: 'Off', rules: {} }, []],
    [{ policy: 'Enforce', rules: { [invalid]: 'warning' } }, [`${invalid} ${line}/resource.json`]],
    [{ policy: 'Enforce', rules: { [invalid]: 'off' } }, []],
  ] as const) {
    const { sync } = setUp(t)
    const result = await sync(templated, template('one'), { validation })
    t.match(result, { phase: 'Synced' })
    t.same(
      findingsOf(result).filter((finding) => finding.startsWith(invalid)),
      told,
    )
  }
})

void t.test('a finding stands until the resource changes, and goes with it', async (t) => {
  const { sync } = setUp(t)
  const patched = (value: string): ResolvedProfile =>
    whole({ patches: [{ file: `resources/${line}/config.json`, set: { '$.profile.type': value } }] })
  const host = { ...validTree(), ...resource(line, config({ profile: { type: 'STANDARD' }, host: 'db.example.com' })) }
  const stale = `stale-signature ${line}/resource.json`
  t.same(findingsOf(await sync(host, patched('A'))), [`host-or-credential-in-core ${line}`, stale])
  t.same(findingsOf(await sync({ ...host, 'services/config/other.txt': 'x' }, patched('A'))), [`host-or-credential-in-core ${line}`, stale])
  t.same(findingsOf(await sync(validTree(), patched('A'))), [stale])
  t.same(findingsOf(await sync(validTree(), patched('STANDARD'))), [])
  const gone = Object.fromEntries(Object.entries(host).filter(([file]) => !file.includes(line)))
  await sync(host, patched('A'))
  t.same(findingsOf(await sync(gone, patched('A'))), [])
})

void t.test('a finding goes with the variable that made it', async (t) => {
  const { sync } = setUp(t)
  const tree = { ...validTree(), [`${root}/${line}/config.json`]: '{"host":"{{ vars.version }}"}' }
  const findings = async (host: string): Promise<string[]> =>
    findingsOf(await sync(tree, template(host))).filter((finding) => finding.startsWith('host'))
  t.same(await findings('db.example.com'), [`host-or-credential-in-core ${line}`])
  t.same(await findings('localhost'), [])
})

void t.test('a finding about a manifest goes with the file beside it', async (t) => {
  const { sync } = setUp(t)
  const signed = resource(line, { 'config.json': '{"version":1}' })
  const tree = { ...validTree(), ...signed, [`${root}/${line}/config.json`]: '{"version":{{ vars.version }}}' }
  t.same(findingsOf(await sync(tree, template('2'))), [`stale-signature ${line}/resource.json`])
  t.same(findingsOf(await sync(tree, template('1'))), [])
})

void t.test('an override is compared with what lies on this gateway, of its own chain of modes', async (t) => {
  const { sync } = setUp(t)
  const profile = profileOf([{ source: 'extra', destination: 'config/resources/dev', template: true }], {
    collections: { root, mode: 'dev' },
  })
  const level = Object.entries(resource('dev/ignition/security-levels', config({ levels: [] })))
  const extra = Object.fromEntries(level.map(([file, text]) => [file.replace(`${root}/dev`, 'extra'), text]))
  t.same(findingsOf(await sync({ ...validTree(), ...extra }, profile)), ['override-identical dev/ignition/security-levels'])
})

void t.test('a file that the gateway itself keeps beside a resource is there', async (t) => {
  const { dataDir, sync } = setUp(t)
  const folder = path.join(dataDir, 'config/resources', line)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, 'keystore'), 'x')
  const tree = {
    ...templated,
    [`${root}/${line}/resource.json`]: '{"files":["config.json","keystore"],"attributes":{},"version":{{ vars.version }}}',
  }
  t.match(await sync(tree, template('1')), { phase: 'Synced' })
  const without = setUp(t)
  t.match(await without.sync(tree, template('1')), { phase: 'Blocked', message: /lists "keystore", which is not there/ })
})

void t.test('taking away a file that a rendered manifest lists is refused', async (t) => {
  const { sync, read } = setUp(t)
  t.match(await sync(templated, template('1')), { phase: 'Synced' })
  const without = Object.fromEntries(Object.entries(templated).filter(([file]) => !file.endsWith(`${line}/config.json`)))
  t.match(await sync(without, template('1')), { phase: 'Blocked', message: /lists "config\.json", which is not there/ })
  t.match(read(`${line}/config.json`), /STANDARD/)
})

void t.test('a manifest of a collection that a template breaks is refused', async (t) => {
  const { sync } = setUp(t)
  const tree = {
    ...validTree(),
    [`${root}/dev/config-mode.json`]: '{"title":"Dev","description":"","enabled":{{ vars.version }},"inheritable":true,"parent":"core"}',
  }
  t.match(await sync(tree, template('1')), { phase: 'Blocked', message: /config-mode\.json.*"enabled" must be a boolean/ })
  t.match(await sync(tree, template('true')), { phase: 'Synced' })
})

void t.test('what no template or patch touches is left to the gate', async (t) => {
  const { sync } = setUp(t)
  const broken = { ...validTree(), [`${root}/${line}/resource.json`]: '{' }
  t.match(await sync(broken, whole({ patches: [{ file: 'nothing/**', set: { a: 'b' } }] })), { phase: 'Synced' })
  t.match(await sync({ ...validTree(), 'services/projects/a.txt': '{{ vars.version }}' }, template('1')), { phase: 'Synced' })
})
