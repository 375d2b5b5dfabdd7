/**
 * Who may call, what a call asks for, and what it is answered.
 */
import { createHmac } from 'node:crypto'
import t from 'tap'
import { systemClock } from '../../../runtime/clock.ts'
import { Fault } from '../../../runtime/fault.ts'
import { requestAnnotations } from '../../../runtime/gatewaysync/names.ts'
import { serveReceiver } from '../../support/receiver-app.ts'

void t.test('a refusal takes the same time whether a Secret had to be read for it or not', async (t) => {
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
  t.same(waits, [150, 200])
})

void t.test('either method lets a call in, neither or a wrong one does not, whether the resource exists or not', async (t) => {
  let looked = 0
  const { post, requests } = await serveReceiver(t, {
    more: {
      lookup(_namespace, name) {
        looked += 1
        return name === 'plant' ? { specRef: 'main', wantedRef: 'main', allowedRefs: undefined } : undefined
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
  t.same(here, nowhere, 'who may not ask learns nothing')
  t.equal(looked, 0, 'nor from the time that it takes: nobody looks')
  t.equal((await post(body, { authorization: 'Bearer token' }, '/webhook/default/none')).status, 404)
})

void t.test('with nothing configured it is open; with a key that cannot be had it is not', async (t) => {
  const open = await serveReceiver(t, { keys: { hmac: undefined, tokens: undefined } })
  t.equal((await open.post('{"ref":"main"}')).status, 202)
  t.same(open.notices, ['Unproved'])
  const fault = new Fault('AuthNotReady', 'the Secret is empty')
  const broken = await serveReceiver(t, { keys: { hmac: undefined, tokens: ['token'], fault, installationFault: fault } })
  t.match(await broken.post('{"ref":"main"}'), { status: 503, body: { reason: 'AuthNotReady' } })
  t.equal(broken.requests.length, 0)
  t.equal((await broken.post('{"ref":"main"}', broken.bearer)).status, 202, 'the other method still counts')
})

void t.test('each of the four formats asks for its ref, in the written order', async (t) => {
  const { post, requests, bearer } = await serveReceiver(t)
  const rows: [object, string, string][] = [
    [{ action: 'published', release: { tag_name: 'v1' } }, 'v1', 'release'],
    [{ app: { metadata: { annotations: { 'git.ref': 'v2' } } } }, 'v2', 'notification'],
    [{ freight: { commits: [{}, { tag: '' }, { tag: 'v3' }, { tag: 'v4' }] } }, 'v3', 'promotion'],
    [{ ref: 'refs/heads/main' }, 'main', 'generic'],
    [{ ref: 'v9', freight: { commits: [{ tag: 'v3' }] }, action: 'published', release: { tag_name: 'v1' } }, 'v1', 'release'],
    [{ ref: 'v9', freight: { commits: [] }, app: { metadata: {} } }, 'v9', 'generic'],
  ]
  for (const [body, ref, by] of rows) {
    const answer = await post(JSON.stringify(body), bearer)
    t.match(answer, { status: 202, body: { accepted: true, ref, source: by } }, JSON.stringify(body))
    t.match(requests.at(-1), { [requestAnnotations.ref]: ref, [requestAnnotations.by]: by, [requestAnnotations.specRef]: 'main' })
    t.equal(requests.at(-1)?.[requestAnnotations.id], answer.body['requestId'])
  }
})

void t.test('what is understood and asks for nothing changes nothing, and is answered 2xx', async (t) => {
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
    t.match(answer.body, { accepted: false, reason })
  }
  t.equal(requests.length, 0)
  t.same(notices, ['RefNotAllowed'])
  t.equal((await post(JSON.stringify(push('refs/tags/v2')), bearer)).body['accepted'], true, 'a pushed tag under a written pattern')
  const plain = await serveReceiver(t)
  t.match((await plain.post(JSON.stringify(push('refs/tags/v2')), plain.bearer)).body, { accepted: false, reason: 'OtherTag' })
})

void t.test('of several refs in one delivery the wanted one is asked for, else the first that may be', async (t) => {
  const push = (...refs: [string, string][]) =>
    JSON.stringify({ push: { changes: refs.map(([type, name]) => ({ new: { type, name }, old: null })) } })
  const headers = { 'x-event-key': 'repo:push' }
  const plain = await serveReceiver(t)
  t.match(await plain.post(push(['tag', 'v1'], ['branch', 'main']), { ...plain.bearer, ...headers }), {
    status: 202,
    body: { accepted: true, ref: 'main', source: 'push' },
  })
  t.match((await plain.post(push(['branch', 'x'], ['tag', 'v1']), { ...plain.bearer, ...headers })).body, { reason: 'OtherBranch' })
  const allowed = await serveReceiver(t, { target: { allowedRefs: ['v*'] } })
  t.match((await allowed.post(push(['branch', 'x'], ['tag', 'v1'], ['tag', 'v2']), { ...allowed.bearer, ...headers })).body, {
    accepted: true,
    ref: 'v1',
    source: 'tag-push',
  })
  t.match((await allowed.post(push(['tag', 'v1'], ['branch', 'main']), { ...allowed.bearer, ...headers })).body, { ref: 'main' })
})

void t.test('what nobody can act on is refused with its own status', async (t) => {
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
