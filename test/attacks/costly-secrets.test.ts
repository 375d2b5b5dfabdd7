/**
 * Secrets of a namespace that are costly to read: the controller reads them at each poll.
 */
import t from 'tap'
import { dockerLogin } from '../../runtime/git/credentials/read.ts'
import { readKeyring } from '../../runtime/git/verify/keyring.ts'
import { packetsOf } from '../../runtime/git/verify/openpgp.ts'
import { Fault } from '../../runtime/platform/fault.ts'

void t.test('a login of docker with too many values is not parsed', async (t) => {
  const login = (count: number): string => {
    const lists = Array.from({ length: count }, () => '[]').join(',')
    return `{"auths":{"registry.example":{"username":"ann","password":"x"},"a":[${lists}]}}`
  }
  t.strictSame(dockerLogin(login(10), 'registry.example', 'auth'), { username: 'ann', password: 'x' })
  const refused = new Fault('CredentialsInvalid', 'auth does not contain JSON with auths')
  t.throws(() => dockerLogin(login(300_000), 'registry.example', 'auth'), refused)
})

function armored(bytes: Buffer): Buffer {
  return Buffer.from(`-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${bytes.toString('base64')}\n-----END PGP PUBLIC KEY BLOCK-----\n`)
}

/** A public key without a name; `number` makes it another one. */
function publicKey(number: number): Buffer {
  const packet = Buffer.from([0x98, 14, 4, 0, 0, 0, 0, 22, 0, 0, 0, 0, 0, 0, 0, 0])
  packet.writeUInt32BE(number, 12)
  return packet
}

void t.test('a keyring of too many packets or keys is not read to its end', async (t) => {
  const read = (files: Record<string, Buffer>): string => {
    const found = readKeyring(new Map(Object.entries(files)))
    return found.kind === 'unusable' ? found.why : found.kind
  }
  const names = (count: number): Buffer => Buffer.alloc(2 * count, Buffer.from([0xb4, 0]))
  const keys = (count: number): Buffer => Buffer.concat(Array.from({ length: count }, (_, index) => publicKey(index)))
  const tooManyPackets = 'contains more than 10000 PGP packets; export the keys with --export-options export-minimal'
  const tooManyKeys = 'contains more than 500 keys; keep those that may sign'
  t.equal(packetsOf(names(200_000), 10_000)?.length, 10_001)
  t.equal(read({ a: armored(Buffer.concat([publicKey(1), names(9_999)])) }), 'keyring')
  t.equal(read({ a: armored(Buffer.concat([publicKey(1), names(200_000)])) }), tooManyPackets)
  const half = (number: number): Buffer => armored(Buffer.concat([publicKey(number), names(5_000)]))
  t.equal(read({ a: half(1), b: half(2), c: half(3) }), tooManyPackets, 'of all keys together')
  const damaged = Buffer.from('damaged')
  t.equal(read({ a: armored(keys(501)), b: damaged }), tooManyKeys)
  t.equal(read({ a: Buffer.concat([armored(keys(501)), damaged]) }), tooManyKeys, 'the rest of the file is not read')
})
