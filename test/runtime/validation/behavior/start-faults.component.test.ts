import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { startSimulator } from '../../../../examples/simulator/simulator.ts'
import { startFaults } from '../../../../examples/simulator/tree.ts'
import { checkCollections } from '../../../../runtime/validation/run/check-root.ts'
import { listingOf } from '../../../../runtime/validation/model/listing.ts'
import { ruleIds, rules } from '../../../../runtime/validation/rules/rules.ts'
import { localSingletons } from '../../../../runtime/validation/model/resource-types.ts'
import { config, type Files, modeJson, resource, root, validTree } from '../../../support/collection-tree.ts'
import { temporaryFolder } from '../../../support/repository.ts'

const signal = new AbortController().signal

type Row = { tree: string; files: Files; rule?: keyof typeof startFaults }

const manifest = JSON.stringify({ scope: 'A', version: 1, restricted: false, overridable: true, files: [] })
const without = (name: string): Files => Object.fromEntries(Object.entries(validTree()).filter(([path]) => path !== `${root}/${name}`))
const withFiles = (...added: Files[]): Files => Object.assign(validTree(), ...added) as Files

const rows: Row[] = [
  { tree: 'a valid tree', files: validTree() },
  { tree: 'external without manifest', files: without('external/config-mode.json'), rule: 'missing-config-mode' },
  {
    tree: 'local without manifest',
    files: withFiles({
      [`${root}/local/ignition/local-system-properties/resource.json`]: JSON.stringify({ ...JSON.parse(manifest), attributes: {} }),
    }),
    rule: 'missing-config-mode',
  },
  {
    tree: 'a singleton only in the mode',
    files: withFiles(resource('dev/ignition/cobranding', config({}))),
    rule: 'singleton-only-in-mode',
  },
  {
    tree: 'a singleton only in the parent of the mode',
    files: withFiles({ [`${root}/dev/config-mode.json`]: modeJson('Dev', 'prod') }, resource('prod/ignition/cobranding', config({}))),
    rule: 'singleton-only-in-mode',
  },
  // A singleton that a gateway creates in local is not required in another collection.
  ...[...localSingletons].map((type) => ({ tree: `${type} only in the mode`, files: withFiles(resource(`dev/${type}`, config({}))) })),
  {
    tree: 'a singleton in the mode that core writes in another case',
    files: withFiles(resource('core/ignition/Cobranding', config({ a: 1 })), resource('dev/ignition/cobranding', config({}))),
  },
  {
    tree: 'no attributes in core',
    files: withFiles({ [`${root}/core/ignition/quickstart/resource.json`]: manifest }),
    rule: 'missing-attributes',
  },
  {
    tree: 'no attributes in the mode',
    files: withFiles({ [`${root}/dev/ignition/schedule/a/resource.json`]: manifest }),
    rule: 'missing-attributes',
  },
  // A fault that loses a resource or is a style issue does not prevent a gateway from starting.
  { tree: 'a stale signature', files: withFiles({ [`${root}/core/ignition/system-properties/config.json`]: '{"systemName":"x"}' }) },
  { tree: 'a listed file that is absent', files: without('core/ignition/security-levels/config.json') },
  { tree: 'a resource file beside a manifest', files: withFiles({ [`${root}/core/ignition/system-properties/notes.txt`]: 'x' }) },
]

void t.test('each start fault is a rule with severity error', async (t) => {
  for (const rule of Object.keys(startFaults)) {
    const known = ruleIds.find((id) => id === rule)
    t.ok(known !== undefined && rules[known].severity === 'error', rule)
  }
})

for (const [index, { tree, files, rule }] of rows.entries()) {
  void t.test(`${tree}: the gateway ${rule === undefined ? 'starts' : 'does not start'}, and lint says so before`, async (t) => {
    const dataDir = temporaryFolder(t, `faults-${index}`)
    for (const [name, content] of Object.entries(files)) {
      const file = path.join(dataDir, name.replace(/^services\//, ''))
      mkdirSync(path.dirname(file), { recursive: true })
      writeFileSync(file, content)
    }
    const simulator = await startSimulator({ dataDir, name: 'gw', mode: 'dev' })
    t.teardown(async () => simulator.stop())
    const { findings } = await checkCollections(listingOf(files), { root }, signal)
    const stopping = findings
      .filter(({ severity, rule }) => severity === 'error' && Object.hasOwn(startFaults, rule))
      .map(({ rule }) => rule)
    t.equal(simulator.state(), rule === undefined ? 'RUNNING' : 'FAULTED', simulator.faults().join('; '))
    t.strictSame(stopping, rule === undefined ? [] : [rule])
  })
}
