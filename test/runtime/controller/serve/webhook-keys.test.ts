/**
 * Which GatewaySyncs share the same webhook keys.
 */
import t from 'tap'
import { keySource } from '../../../../runtime/controller/serve/webhook-keys.ts'

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
  t.equal(keySource({ repository: 'https://git.example/plant.git' }), keySource(undefined))
  t.equal(keySource({ hmac: key('a', 'x'), repository: 'https://git.example/plant.git' }), keySource({ hmac: key('a', 'x') }))
})
