/**
 * Lists of a GatewaySync on a real API server: which of them several owners share, and that the largest status is stored.
 */
import t from 'tap'
import { gatewaySyncCrd } from '../../infra/crd.ts'
import { apiVersion } from '../../runtime/api/names.ts'
import { maxCaptured, maxSkipped } from '../../runtime/api/schema/capture-spec.ts'
import { maxAllowed, maxNamedFailures } from '../../runtime/api/schema/rollout-status.ts'
import type { GatewaySyncSpec } from '../../runtime/api/schema/spec.ts'
import type { GatewaySyncStatus } from '../../runtime/api/schema/status.ts'
import { gatewaySyncType } from '../../runtime/kube/types.ts'
import { openWorld, until } from '../support/world.ts'

const commit = 'a'.repeat(40)
const at = '2026-03-01T12:00:00Z'
const many = <Item>(count: number, item: (index: number) => Item): Item[] => Array.from({ length: count }, (_, index) => item(index))

const past = many(16, (index) => ({ name: `stage-${index}`, gateways: 1, failed: 0, startedAt: at }))
const largest: GatewaySyncStatus = {
  requests: many(20, (index) => ({ id: `r${index}`, ref: 'main', outcome: 'Handled', at })),
  history: many(10, () => ({ commit, ref: 'main', at, outcome: 'Published', stages: past })),
  rollout: {
    state: 'Progressing',
    id: 'r',
    commit,
    configurations: {},
    startedAt: at,
    stages: past.map((stage) => ({ ...stage, updated: 1 })),
    failures: many(maxNamedFailures, (index) => ({ pod: `gw-${index}`, reason: 'DiskFull' })),
    allowed: many(maxAllowed, () => 'AAAAAAAA'),
  },
  capture: {
    gateways: many(maxCaptured, (index) => ({
      pod: `gw-${index}`,
      gateway: 'press',
      request: 'now',
      state: 'Pushed',
      skipped: many(maxSkipped, () => ({ path: 'projects/a', message: 'is too large' })),
      at,
    })),
  },
  findings: { errors: 50, warnings: 0, items: many(50, () => ({ rule: 'r', severity: 'error', path: 'p', message: 'm' })) },
}

void t.test('owners share the lists whose items have keys, and replace the others', { timeout: 600_000 }, async (t) => {
  const { kube, plane, signal, apply, namespace } = await openWorld(t)
  await apply([gatewaySyncCrd()])
  const where = await namespace('lists')
  const mappings = [{ source: 'projects', destination: 'projects' }]
  const required = { git: { repo: 'https://git.example/plant.git', ref: 'main' }, sync: { profiles: { default: { mappings } } } }
  const applyAs = async (manager: string, spec: object) => {
    const object = { apiVersion, kind: 'GatewaySync', metadata: { namespace: where, name: 'plant' }, spec }
    const { code, stderr } = await plane.kubectl(
      ['apply', '--server-side', `--field-manager=${manager}`, '--filename=-'],
      JSON.stringify(object),
    )
    return code === 0 ? '' : stderr
  }
  const key = { namespace: where, name: 'plant' }
  const present = async () =>
    (await kube.get(gatewaySyncType, key, signal)) as { spec: GatewaySyncSpec; status?: GatewaySyncStatus } | undefined
  const token = (name: string, secretKey: string) => ({ token: { secretRef: { name, key: secretKey } } })
  const first = { ...required, rollout: { stages: [{ name: 'test', selector: { names: ['gw-test'] } }, { name: 'rest' }] } }
  await until(async () => ((await applyAs('one', first)) === '' ? true : undefined), 'the kind is served')

  await t.test('stages and refs of two owners are merged', async (t) => {
    const git = { ...required.git, allowedRefs: ['main'], auth: token('one', 'a') }
    t.equal(await applyAs('one', { ...first, git }), '')
    const own = { git: { allowedRefs: ['v*'] }, rollout: { stages: [{ name: 'test', soak: '5m' }] } }
    t.equal(await applyAs('two', own), '')
    const spec = (await present())?.spec
    t.strictSame(
      spec?.rollout?.stages.map(({ name, soak }) => [name, soak]),
      [
        ['test', '5m'],
        ['rest', '0s'],
      ],
    )
    t.strictSame(spec?.git.allowedRefs, ['main', 'v*'])
  })

  await t.test('a reference to a Secret has one owner', async (t) => {
    t.match(await applyAs('two', { git: { auth: token('one', 'b') } }), /conflict with "one"[^]*\.spec\.git\.auth\.token\.secretRef/)
  })

  await t.test('duplicates of a key are refused', async (t) => {
    const twice = { ...required.git, allowedRefs: ['main', 'main'] }
    t.match(await applyAs('three', { ...required, git: twice }), /duplicate/i)
  })

  await t.test('the largest status is stored', async (t) => {
    await kube.mergePatch(gatewaySyncType, key, { status: largest }, { subresource: 'status' }, signal)
    t.strictSame((await present())?.status, largest)
  })
})
