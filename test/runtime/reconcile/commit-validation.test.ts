/**
 * Tests which content and which modes validation covers for a GatewaySync.
 */
import t from 'tap'
import { matchObject } from '../../support/assertions.ts'
import { config, type Files, resource, root, validTree } from '../../support/collection-tree.ts'
import { validatedCommit } from '../../support/validated-commit.ts'

/** A singleton that exists only in dev. */
const broken: Files = { ...validTree(), ...resource('dev/ignition/cobranding', config({})) }

const collections = { collections: { root } }

void t.test('the modes reported by gateways of this GatewaySync are in use, those of other GatewaySyncs are not', async (t) => {
  const { validate, reports } = validatedCommit(broken)
  matchObject(t, await validate(collections), { kind: 'checked', errors: 1 }, 'none is known, so every mode counts')
  reports('a-0', 'line', 'prod')
  matchObject(t, await validate(collections), { kind: 'checked', errors: 0 })
  reports('b-0', 'other', 'dev')
  matchObject(t, await validate(collections), { kind: 'checked', errors: 0 })
  reports('a-1', 'line', 'dev')
  matchObject(t, await validate(collections), { kind: 'checked', errors: 1 })
})

void t.test('a gateway that runs without a mode adds no mode in use', async (t) => {
  const { validate, reports } = validatedCommit(broken)
  reports('a-0', 'line', '')
  matchObject(t, await validate(collections), { kind: 'checked', errors: 1 })
})

void t.test('a gateway that is away for a while or has not reported yet keeps its last mode', async (t) => {
  const errors = { prod: 0, dev: 1 }
  const away: Record<string, (of: ReturnType<typeof validatedCommit>) => void> = {
    'its pod is being deleted': ({ runs }) => runs('a-1', 'line', { terminating: true }),
    'its pod is gone, and then its report': ({ store }) => {
      store.removePod('plant', 'a-1')
      store.removeReport('plant', 'a-1')
    },
    'its report is gone, and then its pod': ({ store }) => {
      store.removeReport('plant', 'a-1')
      store.removePod('plant', 'a-1')
    },
    'its report was deleted by somebody': ({ store }) => store.removeReport('plant', 'a-1'),
    'a pod of its name has not reported yet': ({ store, runs }) => {
      store.removePod('plant', 'a-1')
      store.removeReport('plant', 'a-1')
      runs('a-1', 'line', { uid: 'new' })
    },
    'that pod came before the old one was seen to go': ({ runs }) => runs('a-1', 'line', { uid: 'new' }),
  }
  for (const mode of ['dev', 'prod'] as const)
    for (const [how, goes] of Object.entries(away)) {
      const cluster = validatedCommit(broken)
      cluster.reports('a-0', 'line', 'prod')
      cluster.reports('a-1', 'line', mode)
      matchObject(t, await cluster.validate(collections), { errors: errors[mode] })
      goes(cluster)
      matchObject(t, await cluster.validate(collections), { errors: errors[mode] }, `${mode}: ${how}`)
    }
})

void t.test('a gateway that is away for an hour no longer counts', async (t) => {
  const { validate, reports, store, passes } = validatedCommit(broken)
  reports('a-0', 'line', 'prod')
  reports('a-1', 'line', 'dev')
  store.removePod('plant', 'a-1')
  passes(3_599_999)
  matchObject(t, await validate(collections), { errors: 1 })
  passes(1)
  matchObject(t, await validate(collections), { errors: 0 })
})

void t.test('the most recently removed gateways are remembered, up to a limit', async (t) => {
  const { validate, reports, store } = validatedCommit(broken)
  reports('a-0', 'line', 'prod')
  const goes = (name: string, mode: string): void => {
    reports(name, 'line', mode)
    store.removePod('plant', name)
    store.removeReport('plant', name)
  }
  goes('b-0', 'dev')
  for (let index = 1; index < 1_000; index += 1) goes(`b-${index}`, 'prod')
  matchObject(t, await validate(collections), { errors: 1 })
  goes('b-1000', 'prod')
  matchObject(t, await validate(collections), { errors: 0 })
})

void t.test('while the mode of a new gateway is unknown, every mode counts for ten minutes', async (t) => {
  const { validate, reports, runs, passes } = validatedCommit(broken)
  reports('a-0', 'line', 'prod')
  runs('a-1', 'line', { injected: false })
  matchObject(t, await validate(collections), { errors: 0 }, 'one without an agent is brought nothing')
  runs('b-0', 'other')
  matchObject(t, await validate(collections), { errors: 0 }, 'one that follows another GatewaySync is not asked about')
  runs('a-2', 'line', { profile: 'nowhere' })
  matchObject(t, await validate(collections), { errors: 0 }, 'nor one whose profile there is not')
  runs('a-3', 'line')
  matchObject(t, await validate(collections), { errors: 1 })
  matchObject(t, await validate({ collections: { root, mode: 'prod' } }), { errors: 0 }, 'the profile names the mode')
  reports('a-3', 'line', 'prod')
  matchObject(t, await validate(collections), { errors: 0 })
  reports('a-3', 'line', 'prod', { uid: 'another' })
  matchObject(t, await validate(collections), { errors: 1 }, 'a report of another pod proves nothing')
  passes(599_999)
  matchObject(t, await validate(collections), { errors: 1 })
  passes(1)
  matchObject(t, await validate(collections), { errors: 0 }, 'one that never tells does not hold back the others')
})

void t.test('a mode in use that the commit does not contain is a finding', async (t) => {
  const { validate, reports } = validatedCommit(validTree())
  reports('a-0', 'line', 'staging')
  matchObject(t, await validate(collections), { kind: 'checked', errors: 0, items: [{ rule: 'mode-without-folder' }] })
})

void t.test('only files that profiles deliver are listed, and none under the policy Off', async (t) => {
  const { validate, asked } = validatedCommit(broken)
  matchObject(t, await validate({ ...collections, excludePatterns: ['ignition/cobranding'] }), { kind: 'checked', errors: 0 })
  t.strictSame(asked, [[root, '.clustersync.yaml']])
  t.strictSame(await validate(collections, { policy: 'Off' }), { kind: 'notChecked' })
})
