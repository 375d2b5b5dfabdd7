/**
 * Which GatewaySyncs share the same webhook keys, and how these are cached.
 */
import t from 'tap'
import { createGetSecret } from '../../../../runtime/controller/cluster/secrets.ts'
import { createPushKeys, keySource } from '../../../../runtime/controller/serve/webhook-keys.ts'
import type { Kube } from '../../../../runtime/kube/client.ts'
import { systemClock } from '../../../../runtime/platform/clock.ts'

void t.test('two GatewaySyncs share a key source only if each method reads the same key of the same Secret', async (t) => {
  const key = (name: string, member: string) => ({ secretRef: { name, key: member } })
  const all = [
    undefined,
    { hmac: key('a', 'x') },
    { token: key('a', 'x') },
    { hmac: key('a', 'y') },
    { hmac: key('b', 'x') },
    { hmac: key('a', 'x'), token: key('a', 'x') },
    { hmac: key('a', 'x'), token: key('a', 'y') },
    { hmac: key('a","x', '') },
  ]
  t.equal(new Set(all.map(keySource)).size, all.length)
  t.equal(keySource({ repo: 'https://git.example/plant.git' }), keySource(undefined))
  t.equal(keySource({ hmac: key('a', 'x'), repo: 'https://git.example/plant.git' }), keySource({ hmac: key('a', 'x') }))
})

void t.test('a webhook key larger than 4 KiB is refused, and named', async (t) => {
  const kube = {
    async get(_type: unknown, { name }: { name: string }) {
      return { data: { key: Buffer.from('k'.repeat(name === 'large' ? 4_097 : 4_096)).toString('base64') } }
    },
  } as unknown as Kube
  const keys = createPushKeys({ getSecret: createGetSecret({ kube, clock: systemClock }), clock: systemClock }, {})
  const read = async (name: string) => await keys.of('plant', { hmac: { secretRef: { name, key: 'key' } } })
  t.strictSame((await read('usual')).hmac, ['k'.repeat(4_096)])
  const { hmac, fault } = await read('large')
  t.equal(hmac, undefined)
  t.equal(fault?.reason, 'AuthNotReady')
  t.equal(fault?.message, 'Secret plant/large, key key is larger than 4 KiB; replace it with a key of, for example, 32 random bytes')
})

void t.test('a namespace with many keys displaces its own, not those of another namespace', async (t) => {
  const reads: string[] = []
  const kube = {
    async get(_type: unknown, { namespace, name }: { namespace: string; name: string }) {
      reads.push(`${namespace}/${name}`)
      return { data: { key: Buffer.from('secret').toString('base64') } }
    },
  } as unknown as Kube
  const keys = createPushKeys(
    { getSecret: createGetSecret({ kube, clock: systemClock }), clock: { ...systemClock, monotonicMs: () => 0 } },
    {},
  )
  const read = async (namespace: string, name: string) => await keys.of(namespace, { hmac: { secretRef: { name, key: 'key' } } })
  await read('plant', 'hook')
  for (let index = 0; index < 2_001; index += 1) await read('loud', `hook-${index}`)
  const before = reads.length
  await read('plant', 'hook')
  t.strictSame(reads.slice(before), [])
  await read('loud', 'hook-0')
  t.strictSame(reads.slice(before), ['loud/hook-0'])
})

void t.test('a namespace whose keys are read slowly leaves space for the keys of others', async (t) => {
  const answered = Promise.withResolvers<void>()
  const reads: string[] = []
  const kube = {
    async get(_type: unknown, { namespace }: { namespace: string }) {
      reads.push(namespace)
      if (namespace === 'hostile') await answered.promise
      return { data: { key: Buffer.from('secret').toString('base64') } }
    },
  } as unknown as Kube
  const keys = createPushKeys({ getSecret: createGetSecret({ kube, clock: systemClock }), clock: systemClock }, {})
  const read = async (namespace: string, name: string) => await keys.of(namespace, { hmac: { secretRef: { name, key: 'key' } } })
  const hostile = Array.from({ length: 100 }, (_, index) => read('hostile', `hook-${index}`))
  t.equal((await read('plant', 'hook')).fault, undefined)
  t.equal(reads.filter((namespace) => namespace === 'hostile').length, 1)
  answered.resolve()
  await Promise.all(hostile)
})
