/**
 * Tests watches under conditions that a real API server rarely produces: expired resource versions, split events, endless lines, errors and
 * broken connections.
 */
import { KubeConfig } from '@kubernetes/client-node'
import { createServer, type ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { type Clock, systemClock } from '../../../runtime/platform/clock.ts'
import { createKube } from '../../../runtime/kube/client.ts'
import { runListWatch, type WatchHandlers } from '../../../runtime/kube/list-watch.ts'
import { podType } from '../../../runtime/kube/types.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { freePort } from '../../support/ports.ts'
import { until } from '../../support/world.ts'

const pod = (name: string, resourceVersion: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'plant', uid: name, resourceVersion },
})

type Watched = {
  told: string[]
  faults: string[]
  from: (string | null)[]
  /** The `timeoutSeconds` of each watch. */
  seconds: (string | null)[]
  figures: string[]
  lists: () => number
  /** Stops the server and all its connections; `comeBack` restarts it on the same port. */
  leave(): void
  comeBack(): void
}

type Options = { silenceMs?: number; longestRetryMs?: number; clock?: Clock; handlers?: Partial<WatchHandlers<string>> }

/**
 * Starts a list-watch against a server that returns the lists in order and answers each watch with `answer`, given the index of the watch.
 */
async function watchAt(
  t: Test,
  lists: readonly object[],
  answer: (response: ServerResponse, index: number) => void,
  { handlers = {}, ...options }: Options = {},
): Promise<Watched> {
  let listed = 0
  const port = await freePort()
  const watched: Watched = {
    told: [],
    faults: [],
    from: [],
    seconds: [],
    figures: [],
    lists: () => listed,
    leave() {
      server.close()
      server.closeAllConnections()
    },
    comeBack: () => void server.listen(port, '127.0.0.1'),
  }
  const observe = {
    restarted: (kind: string, from: string) => watched.figures.push(`${kind} from ${from}`),
    relisted: (kind: string, differences: number) => watched.figures.push(`${differences} ${kind}`),
  }
  const server = createServer((request, response) => {
    const query = new URL(request.url ?? '', 'http://127.0.0.1').searchParams
    if (query.get('watch') !== 'true') return void response.end(JSON.stringify(lists[Math.min((listed += 1), lists.length) - 1]))
    watched.seconds.push(query.get('timeoutSeconds'))
    const index = watched.from.push(query.get('resourceVersion')) - 1
    answer(response, index)
    return undefined
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()))
  const config = new KubeConfig()
  config.loadFromClusterAndUser({ name: 'c', server: `http://127.0.0.1:${port}`, skipTLSVerify: true }, { name: 'u' })
  const kube = createKube(config, { clock: systemClock, userAgent: 'test' })
  const stop = new AbortController()
  const running = runListWatch(
    { kube, clock: systemClock, log: silentLog, longestRetryMs: 10, observe, ...options },
    { type: podType, namespace: 'plant', project: ({ metadata }) => metadata.name },
    {
      upsert: ({ name }) => watched.told.push(`+${name}`),
      remove: ({ name }) => watched.told.push(`-${name}`),
      synced() {},
      failed: ({ reason, message }) => watched.faults.push(`${reason}: ${message}`),
      ...handlers,
    },
    stop.signal,
  )
  t.teardown(async () => {
    stop.abort(new Error('stop'))
    await running
    kube.close()
    server.closeAllConnections()
    server.close()
  })
  return watched
}

function begin(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json' })
  response.flushHeaders()
}

const event = (type: string, object: object): string => `${JSON.stringify({ type, object })}\n`
const empty = { metadata: { resourceVersion: '10' }, items: [] }

void t.test('a relist after 410 finds the changes since the last watch', { timeout: 600_000 }, async (t) => {
  const lists = [
    { metadata: { resourceVersion: '10' }, items: [pod('stays', '1'), pod('goes', '2')] },
    { metadata: { resourceVersion: '20' }, items: [pod('stays', '1'), pod('comes', '15')] },
  ]
  const { from, told, figures } = await watchAt(t, lists, (response, index) => {
    begin(response)
    if (index === 0) response.end(event('ERROR', { kind: 'Status', code: 410, message: 'too old resource version' }))
  })
  await until(() => (from.length === 2 ? true : undefined), 'it is watched again')
  t.strictSame(from, ['10', '20'], 'from the second list on')
  t.strictSame(told, ['+stays', '+goes', '+comes', '-goes'], 'and what has not changed is not told again')
  t.strictSame(figures, ['0 pods', 'pods from list', '0 pods'], 'that no watch could tell of them is no difference')
})

void t.test(
  'an object that is not kept is delivered again with each list, and is neither a difference nor removed',
  { timeout: 600_000 },
  async (t) => {
    const lists = [
      { metadata: { resourceVersion: '10' }, items: [pod('kept', '1'), pod('ignored', '2')] },
      { metadata: { resourceVersion: '20' }, items: [pod('kept', '1'), pod('ignored', '2')] },
      { metadata: { resourceVersion: '30' }, items: [pod('kept', '1')] },
    ]
    const told: string[] = []
    const { from, figures } = await watchAt(
      t,
      lists,
      (response, index) => {
        begin(response)
        if (index < 2) response.end(event('ERROR', { kind: 'Status', code: 410, message: 'too old resource version' }))
      },
      {
        handlers: {
          upsert({ name }) {
            told.push(`+${name}`)
            return name !== 'ignored'
          },
          remove: ({ name }) => void told.push(`-${name}`),
        },
      },
    )
    await until(() => (from.length === 3 ? true : undefined), 'it is watched a third time')
    t.strictSame(told, ['+kept', '+ignored', '+ignored'])
    t.strictSame(
      figures.filter((figure) => /[1-9] pods/.test(figure)),
      [],
    )
  },
)

void t.test('a relist counts the changes that the watch skipped, but no changes after its position', { timeout: 600_000 }, async (t) => {
  const known = [pod('stays', '1'), pod('changes', '2'), pod('goes', '3')]
  const lists = [
    { metadata: { resourceVersion: '8' }, items: known },
    { metadata: { resourceVersion: '25' }, items: [pod('stays', '1'), pod('changes', '19'), pod('lost', '9'), pod('later', '20')] },
    { metadata: { resourceVersion: '25' }, items: [pod('stays', '1'), pod('changes', '19'), pod('later', '20')] },
    { metadata: { resourceVersion: 'none of ours' }, items: [pod('stays', 'x'), pod('changes', '19')] },
  ]
  const { told, figures } = await watchAt(t, lists, (response, index) => {
    begin(response)
    // Compared as strings, 9 would sort after 19.
    if (index === 0) response.write(event('BOOKMARK', pod('', '19')))
    if (index < 3) response.end(event('ERROR', { kind: 'Status', code: 410, message: 'too old resource version' }))
  })
  await until(() => (figures.length === 7 ? true : undefined), 'it has listed four times')
  t.strictSame(
    figures.filter((text) => text.endsWith(' pods')),
    ['0 pods', '2 pods', '1 pods', '0 pods'],
    'one changed and one came; one went in a list that is no newer than the watch; other versions are not compared',
  )
  t.strictSame(told, ['+stays', '+changes', '+goes', '+changes', '+lost', '+later', '-goes', '-lost', '+stays', '-later'])
})

void t.test('resource versions of a restored etcd are not compared with those before the restore', { timeout: 600_000 }, async (t) => {
  const lists = [
    { metadata: { resourceVersion: '100' }, items: [pod('a', '90'), pod('b', '95'), pod('c', '30')] },
    { metadata: { resourceVersion: '60' }, items: [pod('a', '40'), pod('d', '55'), pod('c', '30')] },
    { metadata: { resourceVersion: '60' }, items: [pod('a', '40'), pod('c', '30')] },
  ]
  const { told, figures } = await watchAt(t, lists, (response, index) => {
    begin(response)
    if (index < 2) response.end(event('ERROR', { kind: 'Status', code: 410, message: 'too old resource version' }))
  })
  await until(() => (figures.length === 5 ? true : undefined), 'it has listed three times')
  t.strictSame(told, ['+a', '+b', '+c', '+a', '+d', '-b', '-d'])
  t.strictSame(figures, ['0 pods', 'pods from list', '0 pods', 'pods from list', '1 pods'], 'but its own are compared from there on')
})

void t.test('a removal is counted once, and delivered again when a handler throws', { timeout: 600_000 }, async (t) => {
  const lists = [
    { metadata: { resourceVersion: '10' }, items: [pod('goes', '3'), pod('too', '4')] },
    { metadata: { resourceVersion: '10' }, items: [] },
  ]
  const calls: string[] = []
  const fails = (call: string): void => {
    calls.push(call)
    if (calls.length === 3 || calls.length === 5) throw new Error('not now')
  }
  const handlers = { remove: ({ name }: { name: string }) => fails(`-${name}`), synced: () => fails('synced') }
  const answer = (response: ServerResponse, index: number): void => {
    begin(response)
    if (index === 0) response.end(event('ERROR', { kind: 'Status', code: 410, message: 'too old resource version' }))
  }
  const { figures } = await watchAt(t, lists, answer, { handlers })
  await until(() => (calls.length === 6 ? true : undefined), 'a list was told whole')
  t.strictSame(calls, ['synced', '-goes', '-too', '-too', 'synced', 'synced'])
  t.strictSame(
    figures.filter((text) => text.endsWith(' pods')),
    ['0 pods', '1 pods', '1 pods', '0 pods'],
  )
})

void t.test('differences are counted even if a list fails halfway', { timeout: 600_000 }, async (t) => {
  const lists = [
    { metadata: { resourceVersion: '10' }, items: [] },
    { metadata: { resourceVersion: '25', continue: 'next' }, items: [pod('lost', '5')] },
    'no answer',
    { metadata: { resourceVersion: '25' }, items: [pod('lost', '5')] },
  ]
  const { told, figures } = await watchAt(t, lists as object[], (response, index) => {
    begin(response)
    if (index === 0) response.end(event('ERROR', { kind: 'Status', code: 410, message: 'too old resource version' }))
  })
  await until(() => (figures.length === 5 ? true : undefined), 'it has listed again')
  t.strictSame(told, ['+lost'])
  t.strictSame(figures, ['0 pods', 'pods from list', '1 pods', 'pods from list', '0 pods'])
})

void t.test('events arrive in order, however the connection splits them', { timeout: 600_000 }, async (t) => {
  const text =
    event('ADDED', pod('käse', '11')) + event('ADDED', pod('b', '12')) + event('BOOKMARK', pod('', '19')) + event('DELETED', pod('b', '20'))
  const bytes = Buffer.from(text)
  const { told, from } = await watchAt(t, [empty], (response, index) => {
    begin(response)
    if (index > 0) return
    const write = (start: number): void => {
      if (start < bytes.length) response.write(bytes.subarray(start, start + 7), () => write(start + 7))
      else response.end()
    }
    write(0)
  })
  await until(() => (from.length === 2 ? true : undefined), 'it is watched again')
  t.strictSame(told, ['+käse', '+b', '-b'])
  t.strictSame(from, ['10', '20'], 'from the last event on')
})

void t.test('a broken or silent connection loses neither position nor events', { timeout: 600_000 }, async (t) => {
  const { told, from, faults, figures } = await watchAt(
    t,
    [empty],
    (response, index) => {
      begin(response)
      if (index === 0) response.write(event('ADDED', pod('a', '11')) + '{"type":"ADD', () => response.destroy())
      if (index === 1) response.write(event('ADDED', pod('b', '12')))
    },
    { silenceMs: 200 },
  )
  await until(() => (from.length >= 3 ? true : undefined), 'it is watched a third time')
  t.strictSame(told, ['+a', '+b'])
  t.strictSame(figures.slice(0, 2), ['0 pods', 'pods from place'], 'a list is not needed')
  t.strictSame(from.slice(0, 3), ['10', '11', '12'])
  t.equal(faults.length, 1, 'silence is none')
  t.match(faults[0], /^ApiUnavailable: watching pods: ECONNRESET/)
})

/** A clock with shortened waits; `waits` are the requested durations in milliseconds. */
function shortClock(random: number): { clock: Clock; waits: number[] } {
  const waits: number[] = []
  const wait: Clock['wait'] = async (ms, signal) => {
    waits.push(ms)
    await systemClock.wait(Math.min(ms, 5), signal)
  }
  return { waits, clock: { ...systemClock, wait, random: () => random } }
}

void t.test(
  'a watch lasts a random five to ten minutes, so that clients do not renew at the same time',
  { timeout: 600_000 },
  async (t) => {
    const rows: [string, (watches: number) => number, string[]][] = [
      ['the least', () => 0, ['300', '300', '300']],
      ['the most', () => 1 - Number.EPSILON, ['600', '600', '600']],
      ['again for each watch', (watches) => 0.25 + watches / 4, ['375', '450', '525']],
    ]
    for (const [name, random, expected] of rows) {
      let watches = 0
      const clock: Clock = { ...shortClock(0).clock, random: () => random(watches) }
      const { seconds, lists } = await watchAt(
        t,
        [empty],
        (response) => {
          begin(response)
          watches += 1
          // An API server ends a watch this way when its time is over.
          if (watches < expected.length) response.end()
        },
        { clock },
      )
      await until(() => (seconds.length === expected.length ? true : undefined), `it watches again: ${name}`)
      t.strictSame(seconds, expected, name)
      t.equal(lists(), 1, `${name}: nothing is listed again`)
    }
  },
)

void t.test('after a long API server outage clients resume without a list, at spread times', { timeout: 600_000 }, async (t) => {
  const { clock, waits } = shortClock(0.5)
  const options = { clock, longestRetryMs: 30_000 }
  const watched = await watchAt(
    t,
    [empty],
    (response, index) => {
      // A proxy answers this way while the API server is not available yet.
      if (index > 0 && index < 8) return void response.writeHead(503).end('no upstream')
      begin(response)
      response.write(event('ADDED', pod(`a${index}`, String(11 + index))))
      return undefined
    },
    options,
  )
  await until(() => (watched.told.length === 1 ? true : undefined), 'it watches')
  watched.leave()
  await until(() => (watched.faults.length >= 9 ? true : undefined), 'it was refused many times')
  watched.comeBack()
  await until(() => (watched.told.length === 2 ? true : undefined), 'it watches again')
  t.strictSame(watched.told, ['+a0', '+a8'])
  t.equal(watched.lists(), 1)
  t.strictSame(new Set(watched.from.slice(1)), new Set(['11']), 'from its place')
  t.strictSame(new Set(watched.figures), new Set(['0 pods', 'pods from place']))
  t.strictSame(waits.slice(0, 8), [400, 800, 1600, 3200, 6400, 12_800, 15_000, 15_000], 'anywhere up to the wait: here at its half')
})

void t.test('a resource version rejected repeatedly with errors other than 410 is abandoned', { timeout: 600_000 }, async (t) => {
  const { lists, from } = await watchAt(t, [empty], (response, index) => {
    if (index < 6) return void response.writeHead(500).end('etcd is confused')
    begin(response)
    return undefined
  })
  await until(() => (from.length === 7 ? true : undefined), 'it is watched')
  t.equal(lists(), 2)
})

void t.test('an error is reported with its reason, and a line that is not an event restarts the watch', { timeout: 600_000 }, async (t) => {
  const { faults, from } = await watchAt(t, [empty], (response, index) => {
    if (index === 0) return void response.writeHead(403).end('{"kind":"Status","message":"pods is forbidden"}')
    begin(response)
    if (index === 1) return void response.end('none of ours\n')
    return undefined
  })
  await until(() => (from.length === 3 ? true : undefined), 'it is watched a third time')
  t.strictSame(faults, ['Forbidden: watching pods: 403 pods is forbidden', 'ApiUnavailable: watching pods: the response is not JSON'])
})

void t.test('a line without an end is not kept', { timeout: 600_000 }, async (t) => {
  let sent = 0
  const piece = Buffer.alloc(1024 * 1024, 'x')
  const endless = function* (): Generator<Buffer> {
    for (;;) {
      sent += 1
      yield piece
    }
  }
  const { faults } = await watchAt(t, [empty], (response, index) => {
    begin(response)
    if (index === 0) Readable.from(endless()).pipe(response)
  })
  await until(() => (faults.length === 1 ? true : undefined), 'the watch ends')
  t.equal(faults[0], 'ApiUnavailable: watching pods: an event is larger than 12582912 bytes')
  t.ok(sent < 100, `${sent} MiB were sent, of which sockets hold some`)
})
