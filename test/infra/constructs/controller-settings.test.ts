/**
 * The settings of the controller process and its agents.
 */
import t from 'tap'
import type { ValuesInput } from '../../../infra/values.ts'
import { everything, objectsOf, settingsOf } from '../installed.ts'
import { containsText, matchObject } from '../../support/assertions.ts'

void t.test('the log levels reach the controller and its agents', async (t) => {
  const { logLevel, agent } = settingsOf(objectsOf(everything))
  t.strictSame([logLevel, agent.logLevel], ['debug', 'warn'])
})

void t.test('an enabled status page has a port and a certificate name, a disabled one has neither', async (t) => {
  const { statusPage, dnsNames } = settingsOf(objectsOf({ statusPage: { enabled: true, port: 8555, trustedProxies: ['10.0.0.0/8'] } }))
  t.strictSame(statusPage, { port: 8555, trustedProxies: ['10.0.0.0/8'] })
  t.ok(dnsNames.some((name) => /-status-page\..+\.svc$/.test(name)))
  const { proxy } = settingsOf(objectsOf(everything)).statusPage ?? {}
  matchObject(t, proxy, {
    secretFile: '/etc/cluster-sync/status-page/value',
    userHeader: 'X-Forwarded-User',
    usernamePrefix: '',
    groupsPrefix: 'plant:',
  })
  const without = settingsOf(objectsOf({}))
  t.equal(without.statusPage, undefined)
  t.notOk(without.dnsNames.some((name) => name.includes('status-page')))
})

void t.test('the OpenID Connect login of the status page has its settings and the folder of its Secret', async (t) => {
  const oidc = { enabled: true, issuer: 'https://login.example.com', clientID: 'page', secretRef: { name: 'page-login' } }
  const objects = objectsOf({ statusPage: { enabled: true, oidc: { ...oidc, externalURL: 'https://gateways.example.com' } } })
  t.strictSame(settingsOf(objects).statusPage, {
    port: 8444,
    trustedProxies: [],
    oidc: {
      issuer: 'https://login.example.com',
      clientID: 'page',
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
  for (const key of ['client-secret', 'session-key', 'ca.crt']) containsText(t, text, `{"key":"${key}","path":"${key}"}`)
  containsText(t, text, 'may change only spec.paused and the followed ref')
})

void t.test('agent resources are the defaults or exactly the given ones', async (t) => {
  t.strictSame(settingsOf(objectsOf({})).agent.resources, { requests: { cpu: '10m', memory: '64Mi' }, limits: { memory: '256Mi' } })
  t.strictSame(settingsOf(objectsOf(everything)).agent.resources, { limits: { memory: '1Gi' } })
})

void t.test('agents of Guaranteed pods have their own resources unless that is disabled', async (t) => {
  const guaranteed = (values: ValuesInput): unknown => settingsOf(objectsOf(values)).agent.guaranteed
  t.strictSame(guaranteed({}), { cpu: '500m', memory: '256Mi' })
  t.strictSame(guaranteed({ agent: { guaranteed: { cpu: 1 } } }), { cpu: 1, memory: '256Mi' })
  t.equal(guaranteed({ agent: { guaranteed: { enabled: false } } }), undefined)
})
