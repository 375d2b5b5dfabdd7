import t from 'tap'
import { Store } from '../../../../runtime/reconcile/store/store.ts'
import type { GatewaySyncRecord } from '../../../../runtime/reconcile/store/records.ts'
import { createSyncIndexes } from '../../../../runtime/controller/serve/receiver.ts'

function sync(name: string, resourceVersion: string, spec: object): GatewaySyncRecord {
  return { namespace: 'plant', name, uid: name, resourceVersion, generation: 1, annotations: {}, spec, status: {} }
}

function specOf(repository: string, token?: string): object {
  const webhook = token === undefined ? {} : { webhook: { token: { secretRef: { name: token, key: 'token' } } } }
  const mappings = [{ source: 'a', destination: 'b' }]
  return { git: { repo: repository, ref: 'main' }, sync: { profiles: { default: { mappings } } }, ...webhook }
}

function named(url: string) {
  return [{ urls: [url], path: undefined, ignoresCase: true }]
}

void t.test('the index of a namespace follows its GatewaySyncs', async (t) => {
  const store = new Store(() => undefined)
  const [a, b] = ['https://git.example/acme/a', 'https://git.example/acme/b'] as const
  store.upsertSync(sync('one', '1', specOf(a)))
  const indexOf = createSyncIndexes(store)
  store.upsertSync(sync('two', '1', specOf(b, 'own')))
  const shown = () => {
    const index = indexOf('plant')
    return {
      a: index.following(named(a)),
      b: index.following(named(`${b}.git`)),
      sources: [...index.bySource.values()].map((names) => [...names]),
    }
  }
  t.strictSame(shown(), { a: ['one'], b: ['two'], sources: [['one'], ['two']] })
  store.upsertSync(sync('two', '2', specOf(a)))
  t.strictSame(shown(), { a: ['one', 'two'], b: [], sources: [['one', 'two']] })
  store.removeSync('plant', 'one')
  t.strictSame(shown(), { a: ['two'], b: [], sources: [['two']] })
  store.upsertOther('plant', 'two')
  t.strictSame(shown(), { a: [], b: [], sources: [] }, 'a GatewaySync of another installation')
  store.upsertSync(sync('two', '3', specOf(a)))
  t.strictSame(shown(), { a: ['two'], b: [], sources: [['two']] })
  t.strictSame(indexOf('other').following(named(a)), [])
})

void t.test('a GatewaySync with an invalid spec has the keys of the installation, whatever its spec names', async (t) => {
  const store = new Store(() => undefined)
  const indexOf = createSyncIndexes(store)
  store.upsertSync(sync('invalid', '1', { ...specOf('https://git.example/acme/a', 'own'), sync: 'none' }))
  store.upsertSync(sync('valid', '1', specOf('https://git.example/acme/b')))
  t.strictSame(
    [...indexOf('plant').bySource.values()].map((names) => [...names]),
    [['invalid', 'valid']],
  )
})
