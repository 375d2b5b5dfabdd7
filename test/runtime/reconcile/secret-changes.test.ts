import t from 'tap'
import { createSecretChanges } from '../../../runtime/reconcile/secret-changes.ts'
import type { Secret } from '../../../runtime/source/remote/secrets.ts'
import { sourceSecretNames } from '../../../runtime/gatewaysync/schema/secret-names.ts'
import { Fault } from '../../../runtime/fault.ts'
import { steppedClock } from '../../support/stepped-clock.ts'
import { until } from '../../support/world.ts'

const never = new AbortController().signal

function setUp() {
  const secrets = new Map<string, Secret>()
  const heard: string[] = []
  let broken = false
  const { clock, step } = steppedClock()
  const changes = createSecretChanges({
    readSecret: async (namespace, name) => {
      if (broken) throw new Fault('ApiUnavailable', 'away')
      return secrets.get(`${namespace}/${name}`)
    },
    users: () => [
      { key: 'plant/one', namespace: 'plant', secrets: ['keys', 'token'] },
      { key: 'plant/two', namespace: 'plant', secrets: ['keys'] },
      { key: 'other/one', namespace: 'other', secrets: ['keys'] },
    ],
    changed: (key) => heard.push(key),
    clock,
  })
  return {
    ...changes,
    heard,
    step,
    fail: (fails: boolean) => (broken = fails),
    put: (id: string, version: string | undefined) =>
      version === undefined ? secrets.delete(id) : secrets.set(id, { version, data: new Map() }),
  }
}

void t.test('a Secret that appears, changes or goes is noticed by whoever names it, and by nobody else', async (t) => {
  const { put, run, heard, count, step } = setUp()
  const stop = new AbortController()
  const running = run(stop.signal)
  const look = () => step(15_000)
  await look()
  t.same(heard, [], 'nothing has changed yet')
  for (const version of ['1', '2', undefined]) {
    put('plant/keys', version)
    await look()
    t.same(heard.splice(0), ['plant/one', 'plant/two'], version ?? 'gone')
  }
  put('plant/token', '1')
  await look()
  t.same(heard.splice(0), ['plant/one'])
  t.same(['plant/one', 'plant/two', 'other/one'].map(count), [4, 3, 0])
  stop.abort()
  await running
})

void t.test('what a question has read counts as seen, so that no change between two looks is lost', async (t) => {
  const { put, readSecret, heard } = setUp()
  put('plant/keys', '1')
  await readSecret('plant', 'keys', never)
  t.same(heard, [])
  put('plant/keys', '2')
  await readSecret('plant', 'keys', never)
  t.same(heard, ['plant/one', 'plant/two'])
})

void t.test(
  'a Secret that a question could not read counts as changed as soon as it can be read, though nobody had read it before',
  async (t) => {
    const { put, run, readSecret, heard, fail, step } = setUp()
    const stop = new AbortController()
    const running = run(stop.signal)
    put('plant/keys', '1')
    fail(true)
    await t.rejects(readSecret('plant', 'keys', never), new Fault('ApiUnavailable', 'away'))
    await step(15_000)
    t.same(heard, [], 'it is still away')
    fail(false)
    await step(15_000)
    t.same(heard.splice(0), ['plant/one', 'plant/two'])
    fail(true)
    await t.rejects(readSecret('plant', 'keys', never), new Fault('ApiUnavailable', 'away'))
    fail(false)
    await readSecret('plant', 'keys', never)
    t.same(heard.splice(0), ['plant/one', 'plant/two'], 'also where it is the same as ever, and a question is the first to read it')
    await step(15_000)
    t.same(heard, [])
    stop.abort()
    await running
  },
)

void t.test('a Secret that could not be read while nobody needed it has not changed', async (t) => {
  const { put, run, readSecret, heard, fail, step } = setUp()
  const stop = new AbortController()
  const running = run(stop.signal)
  put('plant/keys', '1')
  await readSecret('plant', 'keys', never)
  fail(true)
  await step(15_000)
  // A question that is given up has not failed.
  await t.rejects(readSecret('plant', 'keys', AbortSignal.abort()))
  fail(false)
  await step(15_000)
  t.same(heard, [])
  stop.abort()
  await running
})

void t.test('four Secrets are read at once, and all of them at each look', async (t) => {
  const names = Array.from({ length: 10 }, (_, index) => `keys-${index}`)
  const reading: PromiseWithResolvers<undefined>[] = []
  let most = 0
  const { clock, step } = steppedClock()
  const stop = new AbortController()
  const { run } = createSecretChanges({
    readSecret: async () => {
      const answer = Promise.withResolvers<undefined>()
      most = Math.max(most, reading.push(answer))
      return await answer.promise
    },
    users: () => [{ key: 'plant/one', namespace: 'plant', secrets: names }],
    changed: () => t.fail('nothing has changed'),
    clock,
  })
  const running = run(stop.signal)
  const look = step(15_000)
  for (let answered = 0; answered < names.length; answered += 1) {
    await until(() => (reading.length === Math.min(4, names.length - answered) ? true : undefined), 'as many as may be are read')
    reading.shift()?.resolve(undefined)
  }
  await look
  t.equal(most, 4)
  stop.abort()
  await running
})

void t.test('every Secret that spec.git names is one of its source', async (t) => {
  const secretRef = (name: string) => ({ secretRef: { name, key: 'k' } })
  t.same(
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
