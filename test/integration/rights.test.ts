/**
 * The roles of the manifests compared with the requests of the running product to a real API server: they refuse none of them and grant
 * nothing unused.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import type { Manifest } from '../support/manifest.ts'
import { recordApiCalls } from '../support/api-calls.ts'
import { install } from '../support/installation.ts'
import { liveOnce } from '../support/installation-life.ts'
import { requires } from '../support/requires.ts'
import { inWords, type Permission, rightsOf, usedPermission } from '../support/rights.ts'

const dist = path.resolve(import.meta.dirname, '../../dist/operator.k8s.yaml')
/** Every cluster permits these to everyone. */
const everyones = ['get /version']
/** Questions of an installation that issues its own certificates; `dist/` uses cert-manager. */
const selfManaged = [
  'create secrets',
  'patch admissionregistration.k8s.io/mutatingwebhookconfigurations <fullname>',
  'patch secrets <fullname>-certificate',
]

void t.test('the roles permit each call, and each of their rules is used', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const calls = await recordApiCalls(t)
  const cluster = await install(t, ['plant'], {}, calls.plane)
  t.teardown(() => {
    if (!t.passing()) t.comment(cluster.logs.join(''))
  })
  const users = await liveOnce(t, cluster)

  const { controller, agent, metricsReader } = users
  const general = forgetNames(cluster.manifests)
  const questions = general(calls.questions())
  const holders = [
    {
      user: general(controller),
      roles: ['controller', 'watched', 'secrets'].map((role) => `ClusterRole <fullname>-${role}`).concat('Role <fullname>'),
    },
    { user: general(agent), roles: ['ClusterRole <fullname>-agent'] },
    { user: general(metricsReader), roles: ['ClusterRole <fullname>-metrics-reader'] },
  ]
  const installed = rightsByRole(general(cluster.manifests))
  const committed = rightsByRole(distManifests())
  const everyRole = holders.flatMap(({ roles }) => roles).toSorted()
  t.strictSame(Object.keys(installed).toSorted(), everyRole, 'the test knows who has each role')
  t.strictSame(Object.keys(committed).toSorted(), everyRole)
  /** The questions of each account, with its permissions by the given roles. */
  const each = (rights: Record<string, Permission[]>) =>
    holders.map(({ user, roles }) => ({
      asked: questions.filter((question) => question.user === user),
      rights: roles.flatMap((role) => rights[role] ?? []),
    }))

  await t.test('no call is refused', async (t) => t.strictSame(calls.refused(Object.values(users)), []))
  await t.test('no rule of a role is unused', async (t) => {
    for (const rights of [installed, committed]) {
      const unused = each(rights).flatMap(({ asked, rights }) => {
        const used = new Set(asked.map((question) => usedPermission(question, rights)))
        return rights.filter((right) => !used.has(right)).map((right) => `${right.role}: ${inWords(right)}`)
      })
      t.strictSame(unused, [])
    }
  })
  await t.test('each question is answered by a rule', async (t) => {
    const unanswered = (rights: Record<string, Permission[]>): string[] => {
      const lines = each(rights).flatMap(({ asked, rights }) =>
        asked.filter((question) => usedPermission(question, rights) === undefined).map((question) => inWords(question)),
      )
      return [...new Set(lines)].toSorted()
    }
    t.strictSame(unanswered(installed), everyones)
    t.strictSame(unanswered(committed), [...everyones, ...selfManaged].toSorted())
  })
})

function distManifests(): Manifest[] {
  const documents = parseAllDocuments(readFileSync(dist, 'utf8')).map((document) => document.toJS() as Manifest)
  return forgetNames(documents)(documents)
}

/** Replaces the names of one installation, so that it can be compared with another. */
function forgetNames(manifests: readonly Manifest[]): <Value>(of: Value) => Value {
  const account = manifests.find(({ kind }) => kind === 'ServiceAccount')
  if (account === undefined) throw new Error('there is no ServiceAccount')
  const { name, namespace } = account.metadata
  return <Value>(of: Value) =>
    JSON.parse(JSON.stringify(of).replaceAll(name, '<fullname>').replaceAll(String(namespace), '<namespace>')) as Value
}

function rightsByRole(manifests: readonly Manifest[]): Record<string, Permission[]> {
  const roles = manifests.filter(({ kind }) => kind === 'ClusterRole' || kind === 'Role')
  return Object.fromEntries(roles.map((role) => [`${role.kind} ${role.metadata.name}`, rightsOf(role)]))
}
