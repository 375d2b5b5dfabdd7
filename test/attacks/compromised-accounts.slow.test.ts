/**
 * A compromised service account of an agent or of the controller on a real API server: admission policies refuse what RBAC cannot express.
 */
import t from 'tap'
import { gatewaySyncCrd, syncReportCrd } from '../../infra/crd.ts'
import { apiVersion } from '../../runtime/api/names.ts'
import { leaseType, podType, secretType, syncReportType } from '../../runtime/kube/types.ts'
import { controlPlanePrograms, findProgram } from '../cluster/binaries.ts'
import { presentRelease } from '../support/releases.ts'
import { absent, requires } from '../support/requires.ts'
import { openWorld, tinyPod, until, type World } from '../support/world.ts'

const isAccepted = 'accepted'

/** The message of the refusal. */
async function refusalOf(work: Promise<unknown>): Promise<string> {
  return await work.then(
    () => isAccepted,
    (error: unknown) => (error instanceof Error ? error.message : String(error)),
  )
}

/** An installation that issues its own certificates, so that the controller may create Secrets. */
async function installed(world: World) {
  const [operator, plant] = [await world.namespace('operator'), await world.namespace('plant', 'gateway')]
  const values = { certManager: { enabled: false }, watchNamespaces: [plant] }
  await world.apply([gatewaySyncCrd(), syncReportCrd()])
  await world.apply(presentRelease.manifests({ name: operator, namespace: operator }, values))
  return { operator, plant, fullname: `${operator}-cluster-sync-operator` }
}

void t.test('admission policies restrict compromised service accounts', { timeout: 600_000 }, async (t) => {
  const missing = controlPlanePrograms.filter((name) => findProgram(name) === undefined)
  if (missing.length > 0) {
    absent(t, `${missing.join(', ')} not built; run npm run test:all -- --prepare`)
    return
  }
  if (!requires(t, 'git')) return
  const world = await openWorld(t)
  const { kube, signal } = world
  const { operator, plant, fullname } = await installed(world)

  await t.test('an agent cannot add finalizers or owners to its SyncReport', async (t) => {
    await world.apply([
      {
        apiVersion: 'rbac.authorization.k8s.io/v1',
        kind: 'RoleBinding',
        metadata: { name: 'agents', namespace: plant },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `${fullname}-agent` },
        subjects: [{ kind: 'ServiceAccount', name: 'gateway', namespace: plant }],
      },
    ])
    const podOf = async (name: string) => (await kube.create(podType, tinyPod(plant, name, { account: 'gateway' }), signal)).metadata
    const [own, other] = [await podOf('gw-0'), await podOf('gw-1')]
    const agent = world.as(await world.token(plant, 'gateway', { pod: { name: own.name, uid: own.uid } }))
    const owner = ({ name, uid }: typeof own): object => ({ apiVersion: 'v1', kind: 'Pod', name, uid })
    const report = (metadata: object): object => ({
      apiVersion,
      kind: 'SyncReport',
      metadata: { namespace: plant, name: own.name, ownerReferences: [owner(own)], ...metadata },
      spec: { gatewaySync: 'plant', podUid: own.uid },
    })
    const create = (metadata: object): Promise<string> => refusalOf(agent.create(syncReportType, report(metadata), signal))
    // Role bindings and policies take effect within a second or two. Until then the report may be created, so the attempt uses the report
    // of another pod.
    await until(async () => (/may write only its own SyncReport/.test(await create({ name: other.name })) ? true : undefined), 'the policy')
    t.match(await create({ finalizers: ['a/b'] }), /agent must not add finalizers/)
    t.match(await create({ ownerReferences: [owner(own), owner(other)] }), /must have pod gw-0 with uid [0-9a-f-]+ as its only owner/)
    t.match(await create({ ownerReferences: [owner(other)] }), /must have pod gw-0 with uid [0-9a-f-]+ as its only owner/)
    t.equal(await create({}), isAccepted)
    const change = (metadata: object): Promise<string> =>
      refusalOf(agent.mergePatch(syncReportType, { namespace: plant, name: own.name }, { metadata }, {}, signal))
    t.match(await change({ finalizers: ['a/b'] }), /agent must not add finalizers/)
    t.match(await change({ ownerReferences: [owner(own), owner(other)] }), /must have pod gw-0 with uid [0-9a-f-]+ as its only owner/)
    t.equal(await change({ labels: { a: 'b' } }), isAccepted)
  })

  await t.test('the controller cannot create a Secret of a type that the API server fills with a service account token', async (t) => {
    const controller = world.as(await world.token(operator, fullname))
    const create = (name: string, type: string, more: object = {}): Promise<string> => {
      const metadata = { namespace: operator, name, annotations: { 'kubernetes.io/service-account.name': fullname } }
      return refusalOf(controller.create(secretType, { apiVersion: 'v1', kind: 'Secret', metadata, type, ...more }, signal))
    }
    await until(async () => (/may create only the Secret/.test(await create('any', 'Opaque')) ? true : undefined), 'the policy')
    t.match(
      await create('any', 'kubernetes.io/service-account-token'),
      /may create only the Secret \S+-certificate of type kubernetes\.io\/tls/,
    )
    t.match(
      await create(`${fullname}-certificate`, 'kubernetes.io/service-account-token'),
      /may create only the Secret \S+-certificate of type kubernetes\.io\/tls/,
    )
    const lease = (name: string): Promise<string> => {
      const metadata = { namespace: operator, name }
      return refusalOf(controller.create(leaseType, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: {} }, signal))
    }
    t.match(await lease('kube-scheduler'), /may create only the Lease/)
    t.equal(await lease(fullname), isAccepted)
    t.equal(await create(`${fullname}-certificate`, 'kubernetes.io/tls', { stringData: { 'tls.crt': '', 'tls.key': '' } }), isAccepted)
  })
})
