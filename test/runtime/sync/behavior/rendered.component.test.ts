/**
 * Tests that resource collections changed by templates and patches are validated on the gateway before they are applied.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { isRuleId } from '../../../../runtime/validation/rules/rules.ts'
import type { ResolvedProfile } from '../../../../runtime/api/schema/profile.ts'
import type { CycleResult } from '../../../../runtime/sync/cycle.ts'
import { maxRenderedBytes } from '../../../../runtime/sync/apply/large-blobs.ts'
import { matchObject } from '../../../support/assertions.ts'
import { config, resource, root, validTree } from '../../../support/collection-tree.ts'
import { profileOf, type Tree } from '../../../support/memory-source.ts'
import { syncedFolder } from '../../../support/synced-folder.ts'

function setUp(t: Pick<Test, 'teardown'>) {
  const { dataDir, sync } = syncedFolder(t, 'rendered')
  const read = (file: string): string => readFileSync(path.join(dataDir, 'config/resources', file), 'utf8')
  return { dataDir, sync, read }
}

/** The findings of collection rules only. */
function findingsOf({ findings = [] }: CycleResult): string[] {
  const expected = findings.filter(({ rule }) => isRuleId(rule))
  return expected.map(({ rule, path }) => `${rule} ${path.replace('config/resources/', '')}`).toSorted()
}

const whole = (more: object = {}, vars: Record<string, string> = {}) =>
  profileOf([{ source: 'services/config', destination: 'config', ...more }], { vars })
const line = 'core/ignition/tag-provider/line'
/** A manifest that is valid JSON only if `vars.version` is a number. */
const templated: Tree = {
  ...validTree(),
  [`${root}/${line}/resource.json`]: '{"scope":"A","version":{{ vars.version }},"files":["config.json"],"attributes":{}}',
}
const template = (version: string): ResolvedProfile => whole({ template: true }, { version })

void t.test('a resource broken by a template is refused, and nothing is written', async (t) => {
  const { dataDir, sync, read } = setUp(t)
  matchObject(t, await sync(templated, template('1')), { phase: 'Synced' })
  const before = read(`${line}/resource.json`)
  const refused = await sync(templated, template('one'))
  matchObject(t, refused, {
    phase: 'Blocked',
    reason: 'CollectionsInvalid',
    message: /tag-provider\/line\/resource\.json: is not valid JSON.*\(invalid-resource-json\)/,
  })
  t.strictSame(findingsOf(refused), [`invalid-resource-json ${line}/resource.json`])
  t.equal(read(`${line}/resource.json`), before)
  t.notOk(existsSync(path.join(dataDir, '.cluster-sync/journal')))
  matchObject(t, await sync(templated, template('2')), { phase: 'Synced', files: { changed: 1 } })
})

void t.test('a first sync with a broken resource writes no file at all', async (t) => {
  const { dataDir, sync } = setUp(t)
  matchObject(t, await sync(templated, template('one')), { phase: 'Blocked', reason: 'CollectionsInvalid' })
  t.notOk(existsSync(path.join(dataDir, 'config')))
})

void t.test('a folder can replace a rendered file', async (t) => {
  const { sync, read } = setUp(t)
  const file = `${root}/core/ignition/images/a`
  matchObject(t, await sync({ ...templated, [file]: 'no folder yet' }, template('1')), { phase: 'Synced' })
  matchObject(t, await sync({ ...templated, [`${file}/x.png`]: 'not really' }, template('1')), { phase: 'Synced' })
  t.equal(read('core/ignition/images/a/x.png'), 'not really')
})

void t.test('a file too large for rendering is named, not another one with the same content', async (t) => {
  const { sync } = setUp(t)
  const large = 'x'.repeat(maxRenderedBytes + 1)
  const profile = profileOf([
    { source: 'plain', destination: 'projects/a' },
    { source: 'made', destination: 'projects/b', template: true },
  ])
  matchObject(t, await sync({ 'plain/x': large, 'made/x': large }, profile), {
    phase: 'Blocked',
    reason: 'TemplateFailed',
    message: `"projects/b/x" is ${large.length} bytes; templates and patches accept at most ${maxRenderedBytes}`,
  })
})

void t.test('Warn applies and reports, Off reports nothing, and rule severities take effect', async (t) => {
  const invalid = 'invalid-resource-json'
  for (const [validation, told] of [
    [{ policy: 'Warn', rules: {} }, [`${invalid} ${line}/resource.json`]],
    [{ policy: 'Off', rules: {} }, []],
    [{ policy: 'Enforce', rules: { [invalid]: 'warning' } }, [`${invalid} ${line}/resource.json`]],
    [{ policy: 'Enforce', rules: { [invalid]: 'off' } }, []],
  ] as const) {
    const { sync } = setUp(t)
    const result = await sync(templated, template('one'), { validation })
    matchObject(t, result, { phase: 'Synced' })
    t.strictSame(
      findingsOf(result).filter((finding) => finding.startsWith(invalid)),
      told,
    )
  }
})

void t.test('a finding persists until the resource changes or is deleted', async (t) => {
  const { sync } = setUp(t)
  const patched = (value: string): ResolvedProfile =>
    whole({ patches: [{ file: `resources/${line}/config.json`, set: { '$.profile.type': value } }] })
  const host = { ...validTree(), ...resource(line, config({ profile: { type: 'STANDARD' }, host: 'db.example.com' })) }
  const stale = `stale-signature ${line}/resource.json`
  t.strictSame(findingsOf(await sync(host, patched('A'))), [`host-or-credential-shared ${line}`, stale])
  t.strictSame(findingsOf(await sync({ ...host, 'services/config/other.txt': 'x' }, patched('A'))), [
    `host-or-credential-shared ${line}`,
    stale,
  ])
  t.strictSame(findingsOf(await sync(validTree(), patched('A'))), [stale])
  t.strictSame(findingsOf(await sync(validTree(), patched('STANDARD'))), [])
  const gone = Object.fromEntries(Object.entries(host).filter(([file]) => !file.includes(line)))
  await sync(host, patched('A'))
  t.strictSame(findingsOf(await sync(gone, patched('A'))), [])
})

void t.test('a finding disappears with the variable that caused it', async (t) => {
  const { sync } = setUp(t)
  const tree = { ...validTree(), [`${root}/${line}/config.json`]: '{"host":"{{ vars.version }}"}' }
  const findings = async (host: string): Promise<string[]> =>
    findingsOf(await sync(tree, template(host))).filter((finding) => finding.startsWith('host'))
  t.strictSame(await findings('db.example.com'), [`host-or-credential-shared ${line}`])
  t.strictSame(await findings('localhost'), [])
})

void t.test('a finding about a manifest disappears when the file beside it changes', async (t) => {
  const { sync } = setUp(t)
  const signed = resource(line, { 'config.json': '{"version":1}' })
  const tree = { ...validTree(), ...signed, [`${root}/${line}/config.json`]: '{"version":{{ vars.version }}}' }
  t.strictSame(findingsOf(await sync(tree, template('2'))), [`stale-signature ${line}/resource.json`])
  t.strictSame(findingsOf(await sync(tree, template('1'))), [])
})

void t.test('an override is compared with the resources on this gateway, along its own mode chain', async (t) => {
  const { sync } = setUp(t)
  const profile = profileOf([{ source: 'extra', destination: 'config/resources/dev', template: true }], {
    collections: { root, mode: 'dev' },
  })
  const level = Object.entries(resource('dev/ignition/security-levels', config({ levels: [] })))
  const extra = Object.fromEntries(level.map(([file, text]) => [file.replace(`${root}/dev`, 'extra'), text]))
  t.strictSame(findingsOf(await sync({ ...validTree(), ...extra }, profile)), ['override-identical dev/ignition/security-levels'])
})

void t.test('a file that the gateway keeps beside a resource counts as present', async (t) => {
  const { dataDir, sync } = setUp(t)
  const folder = path.join(dataDir, 'config/resources', line)
  mkdirSync(folder, { recursive: true })
  writeFileSync(path.join(folder, 'keystore'), 'x')
  const tree = {
    ...templated,
    [`${root}/${line}/resource.json`]: '{"files":["config.json","keystore"],"attributes":{},"version":{{ vars.version }}}',
  }
  matchObject(t, await sync(tree, template('1')), { phase: 'Synced' })
  const without = setUp(t)
  matchObject(t, await without.sync(tree, template('1')), { phase: 'Blocked', message: /lists "keystore", which does not exist/ })
})

void t.test('deleting a file that a rendered manifest lists is refused', async (t) => {
  const { sync, read } = setUp(t)
  matchObject(t, await sync(templated, template('1')), { phase: 'Synced' })
  const without = Object.fromEntries(Object.entries(templated).filter(([file]) => !file.endsWith(`${line}/config.json`)))
  matchObject(t, await sync(without, template('1')), { phase: 'Blocked', message: /lists "config\.json", which does not exist/ })
  t.match(read(`${line}/config.json`), /STANDARD/)
})

void t.test('a collection manifest broken by a template is refused', async (t) => {
  const { sync } = setUp(t)
  const tree = {
    ...validTree(),
    [`${root}/dev/config-mode.json`]: '{"title":"Dev","description":"","enabled":{{ vars.version }},"inheritable":true,"parent":"core"}',
  }
  matchObject(t, await sync(tree, template('1')), { phase: 'Blocked', message: /config-mode\.json.*"enabled" must be a boolean/ })
  matchObject(t, await sync(tree, template('true')), { phase: 'Synced' })
})

void t.test('files without templates or patches are left to validation in the controller', async (t) => {
  const { sync } = setUp(t)
  const broken = { ...validTree(), [`${root}/${line}/resource.json`]: '{' }
  matchObject(t, await sync(broken, whole({ patches: [{ file: 'nothing/**', set: { a: 'b' } }] })), { phase: 'Synced' })
  matchObject(t, await sync({ ...validTree(), 'services/projects/a.txt': '{{ vars.version }}' }, template('1')), { phase: 'Synced' })
})
