/**
 * Tests webhook calls to a namespace, which concern each of its GatewaySyncs, and what the paths above it answer.
 */
import t from 'tap'
import { Fault, type Reason } from '../../../../runtime/platform/fault.ts'
import type { Keys } from '../../../../runtime/receiver/authenticate.ts'
import type { ReceiverTarget } from '../../../../runtime/receiver/request/choose-ref.ts'
import { indexOf, serveReceiver } from '../../../support/receiver-app.ts'

/** GatewaySyncs of one namespace: three of one repository, one of them with its own key, and one of another repository. */
const neighbors: Record<string, { keys: Keys; target: ReceiverTarget }> = Object.fromEntries(
  (
    [
      ['line-1', 'key', 'main', 'https://git.example/acme/plant.git'],
      ['line-2', 'key', 'v1', 'git@git.example:acme/plant.git'],
      ['own-key', 'own', 'main', 'https://git.example/acme/plant.git'],
      ['other', 'key', 'main', 'https://git.example/acme/other.git'],
    ] as const
  ).map(([name, key, ref, repository]) => [
    name,
    { keys: { hmac: undefined, tokens: [key] }, target: { specRef: ref, desiredRef: ref, allowedRefs: undefined, repository } },
  ]),
)

const byNamespace = {
  lookup: (_namespace: string, name: string) => neighbors[name]?.target,
  syncs: (namespace: string) =>
    indexOf(namespace === 'default' ? Object.keys(neighbors) : [], (name) => ({ repository: neighbors[name]?.target.repository })),
  keys: async (_namespace: string, name: string) => neighbors[name]?.keys ?? { hmac: undefined, tokens: ['key'] },
}

const pushOfPlant = JSON.stringify({
  ref: 'refs/heads/main',
  before: 'a'.repeat(40),
  after: 'b'.repeat(40),
  repository: { clone_url: 'https://git.example/acme/plant.git' },
})

const push = { 'x-github-event': 'push', 'x-github-delivery': 'one' }
const withToken = (token: string) => ({ ...push, authorization: `Bearer ${token}` })

void t.test('a namespace call requests a sync of each GatewaySync of its repository and key, and lists the outcomes', async (t) => {
  const asked: string[] = []
  const request = async (_namespace: string, name: string): Promise<void> => void asked.push(name)
  const { post } = await serveReceiver(t, { more: { ...byNamespace, request } })
  const answer = await post(pushOfPlant, withToken('key'), '/webhook/default')
  t.equal(answer.status, 202)
  const { results } = answer.body as { results: { name: string; requestId?: string }[] }
  const [{ requestId, ...first } = { name: '' }, ...more] = results
  t.strictSame(first, { name: 'line-1', accepted: true, ref: 'main', source: 'push' })
  t.match(requestId, /^[0-9a-f-]{36}$/)
  t.strictSame(more, [{ name: 'line-2', accepted: false, reason: 'OtherBranch' }])
  t.strictSame(asked, ['line-1'])
  const own = await post(pushOfPlant, withToken('own'), '/webhook/default/')
  t.strictSame(
    (own.body as { results: { name: string }[] }).results.map(({ name }) => name),
    ['own-key'],
  )
  t.strictSame(asked, ['line-1', 'own-key'])
})

void t.test('a namespace call reveals nothing without a key, and needs a repository', async (t) => {
  const { post, requests } = await serveReceiver(t, { more: byNamespace })
  const [here, nowhere] = [await post(pushOfPlant, push, '/webhook/default'), await post(pushOfPlant, push, '/webhook/none')]
  t.equal(here.status, 401)
  t.strictSame(here, nowhere)
  t.equal((await post(pushOfPlant, withToken('key'), '/webhook/none')).status, 404)
  t.equal((await post('{"ref":"main"}', withToken('key'), '/webhook/default')).status, 422)
  const other = pushOfPlant.replace('acme/plant', 'acme/unknown')
  t.strictSame((await post(other, withToken('key'), '/webhook/default')).body, { accepted: false, reason: 'OtherRepository' })
  t.strictSame((await post('{}', { ...withToken('key'), 'x-github-event': 'ping' }, '/webhook/default')).body, {
    accepted: false,
    reason: 'Ping',
  })
  t.strictSame(requests, [])
})

void t.test('a namespace call is retried if a write fails, and completed writes are then duplicates', async (t) => {
  let isAway = true
  const request = async (_namespace: string, name: string): Promise<void> => {
    if (isAway && name === 'line-2') throw new Fault('ApiUnavailable', 'away')
  }
  const followsMain = (_namespace: string, name: string) => {
    const target = neighbors[name]?.target
    return target === undefined ? undefined : { ...target, specRef: 'main', desiredRef: 'main' }
  }
  const { post } = await serveReceiver(t, { more: { ...byNamespace, lookup: followsMain, request } })
  const outcome = async () => {
    const { status, retryAfter, body } = await post(pushOfPlant, withToken('key'), '/webhook/default')
    const { results } = body as { results: { name: string; accepted: boolean; duplicate?: true; reason?: string }[] }
    return { status, retryAfter, results: results.map(({ name, accepted, duplicate, reason }) => ({ name, accepted, duplicate, reason })) }
  }
  const base = { duplicate: undefined, reason: undefined }
  t.strictSame(await outcome(), {
    status: 503,
    retryAfter: '5',
    results: [
      { ...base, name: 'line-1', accepted: true },
      { ...base, name: 'line-2', accepted: false, reason: 'ApiUnavailable' },
    ],
  })
  isAway = false
  t.strictSame(await outcome(), {
    status: 202,
    retryAfter: null,
    results: [
      { ...base, name: 'line-1', accepted: true, duplicate: true },
      { ...base, name: 'line-2', accepted: true },
    ],
  })
})

void t.test('a permanently refused write is listed and does not cause a retry of a namespace call', async (t) => {
  const followsMain = (_namespace: string, name: string) => {
    const target = neighbors[name]?.target
    return target === undefined ? undefined : { ...target, specRef: 'main', desiredRef: 'main' }
  }
  const outcome = async (refused: Record<string, Reason>) => {
    const request = async (_namespace: string, name: string): Promise<void> => {
      const reason = refused[name]
      if (reason !== undefined) throw new Fault(reason, 'refused')
    }
    const { post } = await serveReceiver(t, { more: { ...byNamespace, lookup: followsMain, request } })
    const { status, retryAfter, body } = await post(pushOfPlant, withToken('key'), '/webhook/default')
    return [status, retryAfter, (body['results'] as { reason?: string }[]).map(({ reason }) => reason)]
  }
  t.strictSame(await outcome({ 'line-1': 'Rejected' }), [202, null, ['Rejected', undefined]])
  t.strictSame(await outcome({ 'line-1': 'Rejected', 'line-2': 'Rejected' }), [202, null, ['Rejected', 'Rejected']])
  t.strictSame(await outcome({ 'line-1': 'Forbidden' }), [202, null, ['Forbidden', undefined]])
  const all = await outcome({ 'line-1': 'Forbidden', 'line-2': 'Forbidden' })
  t.strictSame(all, [503, '5', ['Forbidden', 'Forbidden']], 'permissions of the controller may be on their way')
  t.strictSame(await outcome({ 'line-1': 'Conflict' }), [503, '5', ['ApiUnavailable', undefined]])
})

void t.test('a namespace call reports unreadable keys to owners, and is retried for a key of the installation', async (t) => {
  const fault = new Fault('AuthNotReady', 'the Secret is empty')
  const unread = { hmac: undefined, tokens: undefined, fault }
  const outcome = async (keys: Record<string, Keys>) => {
    const notices: string[] = []
    const { post } = await serveReceiver(t, {
      more: {
        ...byNamespace,
        keys: async (namespace, name) => keys[name] ?? (await byNamespace.keys(namespace, name)),
        notify: (_namespace, name, notice) => notices.push(`${name} ${notice}`),
      },
    })
    const { status, retryAfter, body } = await post(pushOfPlant, withToken('key'), '/webhook/default')
    const names = (body['results'] as { name: string }[] | undefined)?.map(({ name }) => name)
    return { status, retryAfter, reason: body['reason'], names, notices }
  }
  const none = { status: 202, retryAfter: null, reason: undefined, names: ['line-1', 'line-2'], notices: [] }
  t.strictSame(await outcome({}), none)
  t.strictSame(await outcome({ 'own-key': unread }), { ...none, notices: ['own-key AuthNotReady'] })
  t.strictSame(await outcome({ other: unread }), none, 'a GatewaySync of another repository is not concerned')
  const ofInstallation = { ...unread, installationFault: fault }
  const repeated = { ...none, status: 503, retryAfter: '5', reason: 'AuthNotReady', notices: ['line-2 AuthNotReady'], names: ['line-1'] }
  t.strictSame(await outcome({ 'line-2': ofInstallation }), repeated)
  const ownFault = new Fault('AuthNotReady', 'another Secret is empty')
  const ownUnread = { ...ofInstallation, fault: ownFault }
  t.strictSame(
    await outcome({ 'own-key': ownUnread }),
    { ...none, notices: ['own-key AuthNotReady'] },
    'its own key matters, not the other',
  )
  const nothing = { 'line-1': ofInstallation, 'line-2': ofInstallation, 'own-key': unread }
  const notices = Object.keys(nothing).map((name) => `${name} AuthNotReady`)
  t.strictSame(await outcome(nothing), { ...repeated, names: undefined, notices }, 'though the key is valid for another repository')
})

void t.test('the root page of the receiver names the webhook path and does not count as a failure', async (t) => {
  const { served, outcomes } = await serveReceiver(t, { more: { ...byNamespace, limits: { failuresPerPeer: 1 } } })
  for (const path of ['/', '/webhook', '/webhook/', '/', '/webhook']) {
    const answer = await fetch(served.url + path)
    t.equal(answer.status, 404, path)
    t.match(((await answer.json()) as { detail: string }).detail, /POST to \/webhook\/\{namespace\}\/\{name\}/, path)
  }
  t.strictSame(outcomes, [])
  for (const path of ['/webhook/default', '/webhook/default/line-1']) {
    const answer = await fetch(served.url + path)
    await answer.body?.cancel()
    if (answer.status !== 429) t.strictSame([answer.status, answer.headers.get('allow')], [405, 'POST'], path)
  }
})
