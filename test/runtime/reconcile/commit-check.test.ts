/**
 * Which content and which modes the gate judges for a GatewaySync.
 */
import t from 'tap'
import { config, type Files, resource, root, validTree } from '../../support/collection-tree.ts'
import { judgedCommit } from '../../support/judged-commit.ts'

/** A singleton that exists only in dev. */
const broken: Files = { ...validTree(), ...resource('dev/ignition/cobranding', config({})) }

const collections = { collections: { root } }

void t.test('the modes that gateways of this GatewaySync report decide, those of another do not', async (t) => {
  const { judge, reports } = judgedCommit(broken)
  t.match(await judge(collections), { kind: 'checked', errors: 1 }, 'none is known, so every mode counts')
  reports('a-0', 'line', 'prod')
  t.match(await judge(collections), { kind: 'checked', errors: 0 })
  reports('b-0', 'other', 'dev')
  t.match(await judge(collections), { kind: 'checked', errors: 0 })
  reports('a-1', 'line', 'dev')
  t.match(await judge(collections), { kind: 'checked', errors: 1 })
})

void t.test('a gateway that runs without a mode is no mode in use', async (t) => {
  const { judge, reports } = judgedCommit(broken)
  reports('a-0', 'line', '')
  t.match(await judge(collections), { kind: 'checked', errors: 1 })
})

void t.test('a mode in use that the commit does not hold is a finding', async (t) => {
  const { judge, reports } = judgedCommit(validTree())
  reports('a-0', 'line', 'staging')
  t.match(await judge(collections), { kind: 'checked', errors: 0, items: [{ rule: 'mode-without-folder' }] })
})

void t.test('only what profiles deliver is listed, and nothing under the policy Off', async (t) => {
  const { judge, asked } = judgedCommit(broken)
  t.match(await judge({ ...collections, excludePatterns: ['ignition/cobranding'] }), { kind: 'checked', errors: 0 })
  t.same(asked, [[root, '.clustersync.yaml']])
  t.same(await judge(collections, { policy: 'Off' }), { kind: 'notChecked' })
})
