/**
 * What the controller's process and its agents are told of the installation.
 */
import t from 'tap'
import type { ValuesInput } from '../../../infra/values.ts'
import { everything, objectsOf, settingsOf } from '../installed.ts'

void t.test('how much is logged reaches the controller and its agents', async (t) => {
  const { logLevel, agent } = settingsOf(objectsOf(everything))
  t.same([logLevel, agent.logLevel], ['debug', 'warn'])
})

void t.test('the status page: a port and a name of the certificate where it is enabled, and nothing otherwise', async (t) => {
  const { statusPage, dnsNames } = settingsOf(objectsOf({ statusPage: { enabled: true, port: 8555 } }))
  t.same(statusPage, { port: 8555 })
  t.ok(dnsNames.some((name) => /-status-page\..+\.svc$/.test(name)))
  const { proxy } = settingsOf(objectsOf(everything)).statusPage ?? {}
  t.match(proxy, {
    secretFile: '/etc/cluster-sync/status-page/value',
    userHeader: 'X-Forwarded-User',
    userPrefix: '',
    groupsPrefix: 'plant:',
  })
  const without = settingsOf(objectsOf({}))
  t.equal(without.statusPage, undefined)
  t.notOk(without.dnsNames.some((name) => name.includes('status-page')))
})

void t.test('a login of the status page by OpenID Connect: its settings, and a folder of its Secret', async (t) => {
  const oidc = { enabled: true, issuer: 'https://login.example.com', clientId: 'page', secretRef: { name: 'page-login' } }
  const objects = objectsOf({ statusPage: { enabled: true, oidc: { ...oidc, externalURL: 'https://gateways.example.com' } } })
  t.same(settingsOf(objects).statusPage, {
    port: 8444,
    oidc: {
      issuer: 'https://login.example.com',
      clientId: 'page',
      secretFolder: '/etc/cluster-sync/status-page-login',
      externalURL: 'https://gateways.example.com',
      scopes: ['profile', 'email'],
      usernameClaim: 'sub',
      groupsClaim: 'groups',
      usernamePrefix: '',
      groupsPrefix: '',
      sessionLifetime: '8h',
    },
  })
  const text = JSON.stringify(objects)
  for (const key of ['client-secret', 'session-key', 'ca.crt']) t.match(text, `{"key":"${key}","path":"${key}"}`)
  t.match(text, 'nothing but paused and git.ref')
})

void t.test('agents: resources are the usual ones, or exactly those given', async (t) => {
  t.same(settingsOf(objectsOf({})).agent.resources, { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } })
  t.same(settingsOf(objectsOf(everything)).agent.resources, { limits: { memory: '1Gi' } })
})

void t.test('agents of Guaranteed pods have what the values give, unless they are to be like all others', async (t) => {
  const guaranteed = (values: ValuesInput): unknown => settingsOf(objectsOf(values)).agent.guaranteed
  t.same(guaranteed({}), { cpu: '500m', memory: '256Mi' })
  t.same(guaranteed({ agent: { guaranteed: { cpu: 1 } } }), { cpu: '1', memory: '256Mi' })
  t.equal(guaranteed({ agent: { guaranteed: { enabled: false } } }), undefined)
})
