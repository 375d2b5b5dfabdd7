/**
 * Tests authentication, ref selection and responses of the webhook receiver.
 */
import { createHmac } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import t from 'tap'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { type LogFields, silentLog } from '../../../runtime/platform/log/log.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import { requestAnnotations } from '../../../runtime/api/names.ts'
import type { FullRef } from '../../../runtime/api/values.ts'
import { matchObject } from '../../support/assertions.ts'
import { serveReceiver } from '../../support/receiver-app.ts'

void t.test('a refusal takes the same time whether or not a Secret is read', async (t) => {
  let nowMs = 0
  const waits: number[] = []
  const clock = { ...systemClock, monotonicMs: () => nowMs, wait: async (forMs: number) => void waits.push(forMs) }
  const { post } = await serveReceiver(t, {
    more: {
      clock,
      async keys(_namespace, name) {
        if (name === 'plant') nowMs += 50
        return { hmac: ['key'], tokens: undefined }
      },
    },
  })
  for (const name of ['plant', 'none']) t.equal((await post('{}', {}, `/webhook/default/${name}`)).status, 401)
  t.strictSame(waits, [150, 200])
})

void t.test('a valid signature or token authenticates a call, and refusals do not reveal whether the resource exists', async (t) => {
  let looked = 0
  const { post, requests } = await serveReceiver(t, {
    more: {
      lookup(_namespace, name) {
        looked += 1
        return name === 'plant' ? { specRef: 'main', desiredRef: 'main', allowedRefs: undefined } : undefined
      },
    },
  })
  const body = '{"ref":"main"}'
  const mac = (key: string): string => createHmac('sha256', key).update(body).digest('hex')
  const rows: [Record<string, string>, number][] = [
    [{ authorization: 'Bearer token' }, 202],
    [{ 'x-hub-signature-256': `sha256=${mac('key')}` }, 202],
    [{ 'x-gitea-signature': mac('key') }, 202],
    [{ 'x-gitlab-token': 'token' }, 202],
    [{ 'x-hub-signature-256': `sha256=${mac('wrong')}`, authorization: 'Bearer token' }, 202],
    [{}, 401],
    [{ authorization: 'Bearer tokens' }, 401],
    [{ authorization: 'Basic token' }, 401],
    [{ 'x-hub-signature-256': `sha256=${mac('wrong')}` }, 401],
    [{ 'x-hub-signature-256': 'sha256=' }, 401],
    [{ 'x-hub-signature-256': mac('key').slice(1) }, 401],
  ]
  for (const [headers, status] of rows) t.equal((await post(body, headers)).status, status, JSON.stringify(headers))
  t.equal(requests.length, 5)
  looked = 0
  const [here, nowhere] = [await post(body), await post(body, {}, '/webhook/default/none')]
  t.strictSame(here, nowhere, 'who may not ask learns nothing')
  t.equal(looked, 0, 'nor from the time that it takes: nobody looks')
  t.equal((await post(body, { authorization: 'Bearer token' }, '/webhook/default/none')).status, 404)
})

void t.test('without configured keys the receiver is open; with an unreadable key it is not', async (t) => {
  const open = await serveReceiver(t, { keys: { hmac: undefined, tokens: undefined } })
  t.equal((await open.post('{"ref":"main"}')).status, 202)
  t.strictSame(open.notices, ['Unauthenticated'])
  const fault = new Fault('AuthNotReady', 'the Secret is empty')
  const broken = await serveReceiver(t, { keys: { hmac: undefined, tokens: ['token'], fault, installationFault: fault } })
  matchObject(t, await broken.post('{"ref":"main"}'), { status: 503, body: { reason: 'AuthNotReady' } })
  t.equal(broken.requests.length, 0)
  t.equal((await broken.post('{"ref":"main"}', broken.bearer)).status, 202, 'the other method still counts')
})

void t.test('each of the four body formats requests its ref, in the documented order', async (t) => {
  const { post, requests, bearer } = await serveReceiver(t)
  const rows: [object, string, string][] = [
    [{ action: 'published', release: { tag_name: 'v1' } }, 'refs/tags/v1', 'release'],
    [{ app: { metadata: { annotations: { 'git.ref': 'v2' } } } }, 'v2', 'notification'],
    [{ app: { metadata: { annotations: { 'git.ref': 'refs/tags/v2' } } } }, 'refs/tags/v2', 'notification'],
    [{ freight: { commits: [{}, { tag: '' }, { tag: 'v3' }, { tag: 'v4' }] } }, 'refs/tags/v3', 'promotion'],
    [{ freight: { commits: [{ branch: 'stage/a' }, { branch: 'b', tag: 'v3' }] } }, 'refs/tags/v3', 'promotion'],
    [{ freight: { commits: [{ id: 'c'.repeat(40), branch: 'stage/a' }] } }, 'refs/heads/stage/a', 'promotion'],
    [{ ref: 'refs/tags/v2.0' }, 'refs/tags/v2.0', 'generic'],
    [{ ref: 'v9', freight: { commits: [{ tag: 'v3' }] }, action: 'published', release: { tag_name: 'v1' } }, 'refs/tags/v1', 'release'],
    [{ ref: 'v9', freight: { commits: [] }, app: { metadata: {} } }, 'v9', 'generic'],
  ]
  for (const [body, ref, by] of rows) {
    const { status, body: answer } = await post(JSON.stringify(body), bearer)
    const requestId = requests.at(-1)?.[requestAnnotations.id]
    t.strictSame({ status, answer }, { status: 202, answer: { accepted: true, ref, requestId, source: by } }, JSON.stringify(body))
    const { ref: asked, by: event, specRef } = requestAnnotations
    t.strictSame(
      [asked, event, specRef].map((name) => requests.at(-1)?.[name]),
      [ref, by, 'main'],
    )
  }
})

void t.test('a valid event that requests nothing changes nothing and is answered 2xx', async (t) => {
  const { post, requests, notices, bearer } = await serveReceiver(t, { target: { allowedRefs: ['main', 'v*'] } })
  const push = (ref: string, after = 'a'.repeat(40)) => ({ ref, before: 'b'.repeat(40), after })
  const rows: [object, Record<string, string>, string][] = [
    [{ zen: 'x' }, { 'x-github-event': 'ping' }, 'Ping'],
    [push('refs/heads/other'), {}, 'OtherBranch'],
    [push('refs/heads/main', '0'.repeat(40)), {}, 'Deletion'],
    [{ ...push('refs/heads/main'), deleted: true }, { 'x-github-event': 'push' }, 'Deletion'],
    [{ ref: 'main', ref_type: 'branch' }, { 'x-github-event': 'delete' }, 'OtherEvent'],
    [{ action: 'deleted', release: { tag_name: 'v1' } }, {}, 'OtherAction'],
    [{ action: 'published', release: { tag_name: 'v1', draft: true } }, {}, 'Draft'],
    [{ ref: 'x1' }, {}, 'RefNotAllowed'],
    [{ ref: 'refs/pull/7/merge' }, { 'x-github-event': 'code_scanning_alert' }, 'OtherEvent'],
  ]
  for (const [body, headers, reason] of rows) {
    const answer = await post(JSON.stringify(body), { ...bearer, ...headers })
    t.ok(answer.status === 200 || answer.status === 202, reason)
    matchObject(t, answer.body, { accepted: false, reason })
  }
  t.equal(requests.length, 0)
  t.strictSame(notices, ['RefNotAllowed'])
  t.equal((await post(JSON.stringify(push('refs/tags/v2')), bearer)).body['accepted'], true, 'a pushed tag under a written pattern')
  const plain = await serveReceiver(t)
  matchObject(t, (await plain.post(JSON.stringify(push('refs/tags/v2')), plain.bearer)).body, { accepted: false, reason: 'OtherTag' })
})

void t.test('a push to the ref of the spec while a requested one is followed is logged at info and counted', async (t) => {
  const lines: LogFields[] = []
  const counted: unknown[] = []
  const { post, requests, bearer } = await serveReceiver(t, {
    target: { specRef: 'main', desiredRef: 'v2' },
    more: { log: { ...silentLog, info: (fields) => lines.push(fields) }, observe: (...all) => counted.push(all) },
  })
  const push = JSON.stringify({ ref: 'refs/heads/main', before: 'b'.repeat(40), after: 'a'.repeat(40) })
  const { status, body } = await post(push, { ...bearer, 'x-github-event': 'push' })
  t.strictSame([status, body, requests.length], [202, { accepted: false, reason: 'OtherBranch' }, 0])
  const message = 'a push event while v2 is followed'
  t.strictSame(lines, [{ namespace: 'default', name: 'plant', reason: 'OtherBranch', ref: 'refs/heads/main', message }])
  t.strictSame(counted, [['ignored', 'push', 'OtherBranch']])
})

void t.test('of several refs in one delivery the desired one is requested, else the first allowed one', async (t) => {
  const push = (...refs: [string, string][]) =>
    JSON.stringify({ push: { changes: refs.map(([type, name]) => ({ new: { type, name }, old: null })) } })
  const headers = { 'x-event-key': 'repo:push' }
  const plain = await serveReceiver(t)
  const main = await plain.post(push(['tag', 'v1'], ['branch', 'main']), { ...plain.bearer, ...headers })
  t.strictSame([main.status, main.body['ref'], main.body['source']], [202, 'main', 'push'])
  matchObject(t, (await plain.post(push(['branch', 'x'], ['tag', 'v1']), { ...plain.bearer, ...headers })).body, { reason: 'OtherBranch' })
  const allowed = await serveReceiver(t, { target: { allowedRefs: ['v*'] } })
  const tag = await allowed.post(push(['branch', 'x'], ['tag', 'v1'], ['tag', 'v2']), { ...allowed.bearer, ...headers })
  t.strictSame([tag.body['accepted'], tag.body['ref'], tag.body['source']], [true, 'refs/tags/v1', 'tag-push'])
  t.equal((await allowed.post(push(['tag', 'v1'], ['branch', 'main']), { ...allowed.bearer, ...headers })).body['ref'], 'main')
})

void t.test('each kind of invalid call is refused with its own status', async (t) => {
  const { post, bearer, served, requests } = await serveReceiver(t)
  const deep = '['.repeat(100) + ']'.repeat(100)
  const rows: [string, Record<string, string>, number][] = [
    ['{', {}, 400],
    ['{"ref":"a..b"}', {}, 400],
    ['[]', {}, 422],
    ['{"x":1}', {}, 422],
    ['{"ref":{}}', {}, 422],
    [`{"ref":${deep}}`, {}, 422],
    ['{"ref":"main"}', { 'content-type': 'text/plain' }, 415],
    ['x'.repeat(1024 * 1024 + 1), {}, 413],
  ]
  for (const [body, headers, status] of rows) t.equal((await post(body, { ...bearer, ...headers })).status, status, body.slice(0, 30))
  const get = await fetch(`${served.url}/webhook/default/plant`, { headers: { connection: 'close' } })
  t.equal(get.status, 405)
  t.equal(get.headers.get('allow'), 'POST')
  t.equal((await post('{"ref":"main"}', bearer, '/other')).status, 404)
  t.equal(
    (await post(`payload=${encodeURIComponent('{"ref":"main"}')}`, { ...bearer, 'content-type': 'application/x-www-form-urlencoded' }))
      .status,
    202,
  )
  t.equal(requests.length, 1)
})

void t.test('a redelivery of a refused request is a new request, any other redelivery is a duplicate', async (t) => {
  let refused: string | undefined
  const { post, requests, bearer } = await serveReceiver(t, { more: { isRefused: (_namespace, _name, id) => id === refused } })
  const headers = { ...bearer, 'x-github-delivery': 'd1' }
  const first = await post('{"ref":"main"}', headers)
  const repeated = await post('{"ref":"main"}', headers)
  t.strictSame(repeated.body, { ...first.body, duplicate: true })
  refused = String(first.body['requestId'])
  const both = await Promise.all([post('{"ref":"main"}', headers), post('{"ref":"main"}', headers)])
  t.equal(requests.length, 2)
  const ids = new Set(both.map(({ body }) => body['requestId']))
  t.equal(ids.size, 1)
  t.notOk(ids.has(refused))
})

void t.test('a push records the hashes before and after, so that a lagging git host is asked again', async (t) => {
  const { post, requests, bearer } = await serveReceiver(t)
  const [before, after] = ['b'.repeat(40), 'a'.repeat(40)]
  const change = { new: { type: 'branch', name: 'main', target: { hash: after } }, old: { target: { hash: before } } }
  const update = { name: 'refs/heads/main', oldObjectId: before, newObjectId: after }
  const server = { ref: { id: 'refs/heads/main' }, fromHash: before, toHash: after, type: 'UPDATE' }
  const rows: [object, Record<string, string>][] = [
    [{ ref: 'refs/heads/main', before, after }, {}],
    [{ push: { changes: [change] } }, { 'x-event-key': 'repo:push' }],
    [{ changes: [server] }, { 'x-event-key': 'repo:refs_changed' }],
    [{ publisherId: 'tfs', eventType: 'git.push', resource: { refUpdates: [update] } }, {}],
    [{ ref: { name: 'refs/heads/main' }, old_sha: before, sha: after }, { 'x-harness-trigger': 'branch_updated' }],
  ]
  for (const [body, headers] of rows) {
    t.equal((await post(JSON.stringify(body), { ...bearer, ...headers })).status, 202)
    t.equal(requests.at(-1)?.[requestAnnotations.move], `${before}..${after}`, JSON.stringify(body))
  }
  await post('{"ref":"main"}', bearer)
  t.equal(requests.at(-1)?.[requestAnnotations.move], '', 'and a call that names none removes those of the call before')
})

void t.test('an event of another repository changes nothing, and a freight uses the commit of its own repository', async (t) => {
  const repository = 'https://git.example/plant/config.git'
  const lines: LogFields[] = []
  const log = { ...silentLog, info: (fields: LogFields) => lines.push(fields) }
  const { post, requests, outcomes, bearer } = await serveReceiver(t, { target: { repository }, more: { log } })
  const release = (url: string) => ({ action: 'published', release: { tag_name: 'v1.0' }, repository: { clone_url: url } })
  const other = await post(JSON.stringify(release('https://git.example/plant/other.git')), { ...bearer, 'x-gitea-event': 'release' })
  t.strictSame([other.status, other.body], [202, { accepted: false, reason: 'OtherRepository' }])
  t.strictSame([requests.length, outcomes], [0, ['ignored']])
  const message = `the event is for https://git.example/plant/other.git, not for ${repository}; if both are the same repository, set spec.webhook.repo`
  t.strictSame(lines, [{ namespace: 'default', name: 'plant', reason: 'OtherRepository', ref: 'refs/tags/v1.0', message }])
  const own = await post(JSON.stringify(release('https://GIT.example/Plant/Config')), { ...bearer, 'x-gitea-event': 'release' })
  t.strictSame([own.status, own.body['ref']], [202, 'refs/tags/v1.0'])
  const commits = [
    { repoURL: 'https://git.example/plant/images.git', tag: 'v8' },
    { repoURL: repository, branch: 'stage/prod', id: 'c'.repeat(40) },
  ]
  t.equal((await post(JSON.stringify({ freight: { commits } }), bearer)).body['ref'], 'refs/heads/stage/prod')
  t.equal((await post('{"ref":"v9"}', bearer)).body['ref'], 'v9', 'a generic body names no repository')
})

void t.test('health checks need no key and are not counted, and a trailing slash is accepted', async (t) => {
  const { post, served, bearer, outcomes } = await serveReceiver(t, { more: { limits: { failuresPerPeer: 2, perSecond: 10 } } })
  for (let count = 0; count < 30; count += 1) t.equal((await fetch(`${served.url}/healthz`)).status, 200)
  t.strictSame(outcomes, [])
  t.equal((await post('{"ref":"main"}', bearer, '/webhook/default/plant/')).status, 202)
})

void t.test('the password of Basic authentication is a token for any user name', async (t) => {
  const { post } = await serveReceiver(t)
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` })
  const rows: [string, number][] = [
    [':token', 202],
    ['azure:token', 202],
    ['token:', 401],
    ['token', 401],
    ['azure:token2', 401],
  ]
  for (const [pair, status] of rows) t.equal((await post('{"ref":"main"}', basic(pair))).status, status, pair)
})

void t.test('CDEvents request the followed ref or the ref they name, in their repository', async (t) => {
  const event = (type: string, content: object, more: object = {}) => ({
    context: { version: '0.4.1', id: '1', source: '/ci', type: `dev.cdevents.${type}.0.2.0`, timestamp: '2026-03-01T12:00:00Z' },
    subject: { id: 'main', type: 'change', content },
    ...more,
  })
  const target = { repository: 'https://git.example/acme/plant.git', resolvedRef: 'refs/heads/main' as FullRef }
  const { post, bearer } = await serveReceiver(t, { target })
  const own = { repository: { id: 'acme/plant', source: 'https://ci.example' } }
  const rows: [object, Record<string, unknown>][] = [
    [event('change.merged', own), { accepted: true, ref: 'main', source: 'push' }],
    [event('change.merged', { repository: { id: 'git.example/acme/plant' } }), { accepted: true, ref: 'main', source: 'push' }],
    [event('change.merged', { repository: { id: 'acme/other' } }), { accepted: false, reason: 'OtherRepository' }],
    [event('change.merged', { repository: { id: 'https://git.example/acme/other' } }), { accepted: false, reason: 'OtherRepository' }],
    [event('change.merged', own, { customData: { ref: 'refs/heads/dev' } }), { accepted: false, reason: 'OtherBranch' }],
    [event('branch.created', own), { accepted: true, ref: 'refs/heads/main', source: 'push' }],
    [event('branch.deleted', own), { accepted: false, reason: 'Deletion' }],
    [event('build.finished', {}), { accepted: false, reason: 'OtherEvent' }],
  ]
  for (const [body, expected] of rows)
    for (const [type, sent] of [
      ['application/json', body],
      ['application/cloudevents+json', { specversion: '1.0', type: 'dev.cdevents', data: body }],
    ] as const) {
      const { body: answer } = await post(JSON.stringify(sent), { ...bearer, 'content-type': type })
      const { requestId: _id, ...told } = answer
      t.strictSame(told, expected, `${type} ${JSON.stringify(body)}`)
    }
})

void t.test('a compressed body is refused with the remedy', async (t) => {
  const { served, bearer } = await serveReceiver(t)
  const headers = { ...bearer, 'content-type': 'application/json', 'content-encoding': 'gzip' }
  const answer = await fetch(`${served.url}/webhook/default/plant`, { method: 'POST', headers, body: gzipSync('{"ref":"main"}') })
  t.equal(answer.status, 400)
  t.match(await answer.text(), /compressed with gzip; send it uncompressed/)
})
