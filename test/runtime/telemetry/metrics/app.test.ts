import t from 'tap'
import { metricsApp, probesApp } from '../../../../runtime/telemetry/metrics/app.ts'
import { createMetricsAuthorizer } from '../../../../runtime/controller/serve/metrics-access.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { rejectsWith } from '../../../support/assertions.ts'

void t.test('metrics require an authorized token', async (t) => {
  const app = metricsApp({
    text: () => ReadableStream.from(['m 1\n', 'n 2\n']),
    authorize: async (token) => (token === 'reader' ? 'allowed' : token === 'other' ? 'forbidden' : 'unauthenticated'),
  })
  const get = async (headers: Record<string, string>, path = '/metrics') => {
    const response = await app.request(path, { headers })
    return [response.status, response.headers.get('content-type'), (await response.text()).slice(0, 40)]
  }
  t.strictSame(await get({ authorization: 'Bearer reader' }), [200, 'text/plain; version=0.0.4; charset=utf-8', 'm 1\nn 2\n'])
  t.equal((await get({ authorization: 'bearer  reader' }))[0], 200)
  t.equal((await get({ authorization: 'Bearer other' }))[0], 403)
  for (const authorization of ['Bearer x', 'Basic reader', 'reader', 'Bearer', 'Bearer a b', `Bearer ${'x'.repeat(20_000)}`]) {
    t.equal((await get({ authorization }))[0], 401, authorization.slice(0, 20))
  }
  t.equal((await get({}))[0], 401)
  t.equal((await get({ authorization: 'Bearer reader' }, '/'))[0], 404)
})

void t.test('without a token review the response is 503 with Retry-After', async (t) => {
  const app = metricsApp({ text: () => ReadableStream.from(['']), authorize: () => Promise.reject(new Fault('ApiUnavailable', 'away')) })
  const response = await app.request('/metrics', { headers: { authorization: 'Bearer x' } })
  t.equal(response.status, 503)
  t.equal(response.headers.get('retry-after'), '5')
})

void t.test('the probes report their reasons', async (t) => {
  let [live, ready]: [string[], string[]] = [[], ['the cluster has not been listed yet']]
  const app = probesApp({ live: () => live, ready: () => ready })
  const get = async (path: string) => {
    const response = await app.request(path)
    return [response.status, await response.text()]
  }
  t.strictSame(await get('/healthz'), [200, 'ok\n'])
  t.strictSame(await get('/readyz'), [503, 'the cluster has not been listed yet\n'])
  ready = []
  t.strictSame(await get('/readyz'), [200, 'ok\n'])
  live = ['the queue stands still']
  t.strictSame(await get('/healthz'), [503, 'the queue stands still\n'])
  t.equal((await get('/readyz'))[0], 503)
})

function apiServer(users: Record<string, { username: string; allowed: boolean }>) {
  const calls: string[] = []
  let away = false
  let nowMs = 0
  const post = async (path: string, body: unknown): Promise<unknown> => {
    if (away) throw new Fault('ApiUnavailable', 'away')
    calls.push(path.split('/').at(-1) ?? '')
    const { spec } = body as { spec: { token?: string; user?: string; nonResourceAttributes?: unknown } }
    if (spec.token !== undefined) {
      const user = users[spec.token]
      return {
        status: user === undefined ? { error: 'unknown' } : { authenticated: true, user: { username: user.username, groups: ['g'] } },
      }
    }
    t.strictSame(spec.nonResourceAttributes, { path: '/metrics', verb: 'get' })
    return { status: { allowed: Object.values(users).some(({ username, allowed }) => username === spec.user && allowed) } }
  }
  const authorize = createMetricsAuthorizer({ post, clock: { monotonicMs: () => nowMs } })
  return { authorize, calls, pass: (ms: number) => (nowMs += ms), away: (is: boolean) => (away = is) }
}

void t.test('the decision of the API server is cached for less than a minute', async (t) => {
  const users = { p: { username: 'prometheus', allowed: true }, o: { username: 'other', allowed: false } }
  const { authorize, calls, pass } = apiServer(users)
  t.strictSame([await authorize('p'), await authorize('o'), await authorize('x')], ['allowed', 'forbidden', 'unauthenticated'])
  t.equal(calls.length, 5)
  pass(9999)
  t.strictSame([await authorize('p'), await authorize('o'), await authorize('x')], ['allowed', 'forbidden', 'unauthenticated'])
  t.equal(calls.length, 5)
  users.p.allowed = false
  pass(50_002)
  t.equal(await authorize('p'), 'forbidden', 'a permission that was taken away ends within a minute')
})

void t.test('a failure is not cached', async (t) => {
  const { authorize, away } = apiServer({ p: { username: 'prometheus', allowed: true } })
  away(true)
  await rejectsWith(t, authorize('p'), new Fault('ApiUnavailable', 'away'))
  away(false)
  t.equal(await authorize('p'), 'allowed')
})

void t.test('the token cache is bounded', async (t) => {
  const { authorize, calls } = apiServer({})
  for (let index = 0; index < 300; index += 1) await authorize(String(index))
  calls.length = 0
  await authorize('299')
  t.equal(calls.length, 0)
  await authorize('0')
  t.equal(calls.length, 1)
})
