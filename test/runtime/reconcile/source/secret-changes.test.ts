import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { createSecretChanges } from '../../../../runtime/reconcile/source/secret-changes.ts'
import type { Secret } from '../../../../runtime/git/remote/secrets.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { rejectsWith } from '../../../support/assertions.ts'
import { steppedClock } from '../../../support/stepped-clock.ts'
import { sourceSecretNames } from '../../../../runtime/api/schema/spec.ts'

const never = new AbortController().signal

function setUp() {
  const secrets = new Map<string, Secret>()
  const heard: string[] = []
  const deleted = new Set<string>()
  let broken = false
  const { clock, step } = steppedClock()
  const poll = async (): Promise<void> => {
    await step(15_000)
    await turn()
  }
  const changes = createSecretChanges({
    readSecret: async (namespace, name) => {
      if (broken) throw new Fault('ApiUnavailable', 'away')
      return secrets.get(`${namespace}/${name}`)
    },
    users(of) {
      const all = [
        { key: 'plant/one', namespace: 'plant', secrets: ['keys', 'token'] },
        { key: 'plant/two', namespace: 'plant', secrets: ['keys'] },
        { key: 'other/one', namespace: 'other', secrets: ['keys'] },
      ] as const
      return all.filter(({ key, namespace }) => !deleted.has(key) && (of === undefined || namespace === of))
    },
    changed: (key) => heard.push(key),
    clock,
  })
  return {
    ...changes,
    heard,
    deleted,
    poll,
    fail: (fails: boolean) => (broken = fails),
    put: (id: string, version: string | undefined) =>
      version === undefined ? secrets.delete(id) : secrets.set(id, { version, data: new Map() }),
  }
}

void t.test('a created, changed or deleted Secret triggers exactly the GatewaySyncs that reference it', async (t) => {
  const { put, run, heard, count, poll } = setUp()
  const stop = new AbortController()
  const running = run(stop.signal)
  await poll()
  t.strictSame(heard, [], 'nothing has changed yet')
  for (const version of ['1', '2', undefined]) {
    put('plant/keys', version)
    await poll()
    t.strictSame(heard.splice(0), ['plant/one', 'plant/two'], version ?? 'gone')
  }
  put('plant/token', '1')
  await poll()
  t.strictSame(heard.splice(0), ['plant/one'])
  t.strictSame(['plant/one', 'plant/two', 'other/one'].map(count), [4, 3, 0])
  stop.abort()
  await running
})

void t.test('the changes of a deleted GatewaySync are forgotten', async (t) => {
  const { put, run, count, poll, deleted } = setUp()
  const stop = new AbortController()
  const running = run(stop.signal)
  await poll()
  put('plant/keys', '1')
  await poll()
  t.strictSame(['plant/one', 'plant/two'].map(count), [1, 1])
  deleted.add('plant/one')
  await poll()
  t.strictSame(['plant/one', 'plant/two'].map(count), [0, 1])
  stop.abort()
  await running
})

void t.test('a Secret read by a source resolution counts as seen, so that no change between polls is lost', async (t) => {
  const { put, readSecret, heard } = setUp()
  put('plant/keys', '1')
  await readSecret('plant', 'keys', never)
  t.strictSame(heard, [])
  put('plant/keys', '2')
  await readSecret('plant', 'keys', never)
  t.strictSame(heard, ['plant/one', 'plant/two'])
})

void t.test('a Secret that could not be read counts as changed once it is readable, even on the first read', async (t) => {
  const { put, run, readSecret, heard, fail, poll } = setUp()
  const stop = new AbortController()
  const running = run(stop.signal)
  put('plant/keys', '1')
  fail(true)
  await rejectsWith(t, readSecret('plant', 'keys', never), new Fault('ApiUnavailable', 'away'))
  await poll()
  t.strictSame(heard, [], 'it is still away')
  fail(false)
  await poll()
  t.strictSame(heard.splice(0), ['plant/one', 'plant/two'])
  fail(true)
  await rejectsWith(t, readSecret('plant', 'keys', never), new Fault('ApiUnavailable', 'away'))
  fail(false)
  await readSecret('plant', 'keys', never)
  t.strictSame(heard.splice(0), ['plant/one', 'plant/two'], 'also where it is the same as ever, and a question is the first to read it')
  await poll()
  t.strictSame(heard, [])
  stop.abort()
  await running
})

void t.test('a Secret that was unreadable while no source resolution needed it has not changed', async (t) => {
  const { put, run, readSecret, heard, fail, poll } = setUp()
  const stop = new AbortController()
  const running = run(stop.signal)
  put('plant/keys', '1')
  await readSecret('plant', 'keys', never)
  fail(true)
  await poll()
  // An aborted read is not a failed one.
  await t.rejects(readSecret('plant', 'keys', AbortSignal.abort()))
  fail(false)
  await poll()
  t.strictSame(heard, [])
  stop.abort()
  await running
})

void t.test('namespaces take turns in up to four concurrent reads, and a slow poll does not delay the next one of others', async (t) => {
  const names = Array.from({ length: 1_000 }, (_, index) => `keys-${index}`)
  const reading: { id: string; answer: () => void }[] = []
  const { clock, step } = steppedClock()
  const stop = new AbortController()
  const { run } = createSecretChanges({
    async readSecret(namespace, name) {
      await new Promise<void>((resolve) => reading.push({ id: `${namespace}/${name}`, answer: resolve }))
      return undefined
    },
    users: () => [
      { key: 'busy/one', namespace: 'busy', secrets: names },
      { key: 'plant/one', namespace: 'plant', secrets: ['keys'] },
    ],
    changed: () => t.fail('nothing has changed'),
    clock,
  })
  const running = run(stop.signal)
  const poll = async (): Promise<string[]> => {
    await step(15_000)
    await turn()
    return reading.map(({ id }) => id)
  }
  const answer = async (): Promise<void> => {
    for (const { answer } of reading.splice(0)) answer()
    await turn()
  }
  t.strictSame(await poll(), ['busy/keys-0', 'plant/keys', 'busy/keys-1', 'busy/keys-2'])
  await answer()
  t.strictSame(await poll(), ['busy/keys-3', 'busy/keys-4', 'busy/keys-5', 'busy/keys-6'])
  await answer()
  t.strictSame(
    reading.map(({ id }) => id),
    ['busy/keys-7', 'plant/keys', 'busy/keys-8', 'busy/keys-9'],
  )
  stop.abort()
  await answer()
  await running
})

void t.test('every Secret referenced in spec.git belongs to the source', async (t) => {
  const secretRef = (name: string) => ({ secretRef: { name, key: 'k' } })
  t.strictSame(
    sourceSecretNames({
      repo: 'https://git.example/plant.git',
      ref: 'main',
      auth: { githubApp: { appId: 1, installationId: 2, privateKeySecretRef: { name: 'app', key: 'k' } } },
      caBundle: secretRef('ca'),
      proxy: secretRef('proxy'),
      verify: { mode: 'Commit', secretRef: { name: 'ca' } },
    }),
    ['app', 'ca', 'proxy'],
  )
})
