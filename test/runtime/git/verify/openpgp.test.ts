import { createHash } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { keysOf, type Packet, packetsOf, signatureOf, weakDigestOf, weaknessOf } from '../../../../runtime/git/verify/openpgp.ts'

const hex = (text: string): Buffer => Buffer.from(text.replaceAll(' ', ''), 'hex')
const u16 = (value: number): Buffer => Buffer.from([value >> 8, value & 0xff])
const u32 = (value: number): Buffer => Buffer.concat([u16(value >>> 16), u16(value & 0xffff)])

/** Each way to write the head of a packet with content of a length, and the lengths that it can express. */
const heads: Record<string, { max: number; min?: number; head: (tag: number, length: number) => Buffer }> = {
  'old, one byte': { max: 255, head: (tag, length) => Buffer.from([0x80 | (tag << 2), length]) },
  'old, two bytes': { max: 9000, head: (tag, length) => Buffer.concat([Buffer.from([0x81 | (tag << 2)]), u16(length)]) },
  'old, four bytes': { max: 9000, head: (tag, length) => Buffer.concat([Buffer.from([0x82 | (tag << 2)]), u32(length)]) },
  'new, one byte': { max: 191, head: (tag, length) => Buffer.from([0xc0 | tag, length]) },
  'new, two bytes': { min: 192, max: 8383, head: (tag, length) => Buffer.concat([Buffer.from([0xc0 | tag]), u16(length - 192 + 0xc000)]) },
  'new, five bytes': { max: 9000, head: (tag, length) => Buffer.concat([Buffer.from([0xc0 | tag, 255]), u32(length)]) },
}

const written = fc.constantFrom(...Object.values(heads)).chain(({ min = 0, max, head }) =>
  fc
    .record({
      tag: fc.integer({ min: 0, max: 15 }),
      length: fc.oneof(fc.constantFrom(min, max), fc.integer({ min, max })),
      fill: fc.nat(255),
    })
    .map(({ tag, length, fill }) => ({ head: head(tag, length), packet: { tag, body: Buffer.alloc(length, fill) } })),
)

void t.test('packets are read in each form of their length, and none is read from bytes that end early', async (t) => {
  fc.assert(
    fc.property(fc.array(written, { maxLength: 3 }), fc.nat(), (list, cut) => {
      const packets = list.map(({ packet }) => packet)
      const bytes = Buffer.concat(list.flatMap(({ head, packet }) => [head, packet.body]))
      t.strictSame(packetsOf(bytes), packets)
      const last = list.at(-1)
      if (last === undefined) return
      const lost = 1 + (cut % (last.head.length + last.packet.body.length - 1))
      t.equal(packetsOf(bytes.subarray(0, bytes.length - lost)), undefined, `without its last ${lost} bytes`)
    }),
    { numRuns: 60 },
  )
  for (const { max, min = 0, head } of Object.values(heads)) {
    for (const length of [min, max]) {
      const bytes = Buffer.concat([head(6, length), Buffer.alloc(length, 7)])
      t.strictSame(packetsOf(bytes), [{ tag: 6, body: Buffer.alloc(length, 7) }])
    }
  }
})

void t.test('bytes that are not packets, and packets without a definite length, are refused', async (t) => {
  for (const text of [
    '06 01 aa',
    '3f',
    '9b aa',
    'c6 e0 aa',
    'c6 fe aa',
    '98 01 aa 00',
    '98',
    '99 00',
    '9a 00 00 00',
    'c6',
    'c6 c0',
    'c6 ff 00 00 00',
  ])
    t.equal(packetsOf(hex(text)), undefined, text)
  t.equal(packetsOf(Buffer.concat([hex('c6 e0 00'), Buffer.alloc(8384)])), undefined, 'a partial length that would be enough')
  t.equal(packetsOf(hex('c6 f0 00000001 aa')), undefined)
  t.equal(packetsOf(hex('18 01 aa')), undefined)
  t.strictSame(packetsOf(hex('')), [])
})

const key = (tag: number, body: Buffer): Packet => ({ tag, body })
const rsa = (algorithm: number, bits = 3072) =>
  Buffer.concat([hex('04 00000001'), Buffer.from([algorithm]), u16(bits), Buffer.alloc(300, 1)])
const userId: Packet = { tag: 13, body: Buffer.from('Ann') }
const fingerprintOf = (body: Buffer): string =>
  createHash('sha1')
    .update(Buffer.concat([Buffer.from([0x99]), u16(body.length), body]))
    .digest('hex')
    .toUpperCase()

void t.test('the keys of a file are its primary keys and subkeys, with the modulus only of RSA', async (t) => {
  const rows = [
    { algorithm: 1, rsaBits: 3072 },
    { algorithm: 2, rsaBits: 3072 },
    { algorithm: 3, rsaBits: 3072 },
    { algorithm: 0, rsaBits: undefined },
    { algorithm: 4, rsaBits: undefined },
    { algorithm: 22, rsaBits: undefined },
  ]
  for (const row of rows) {
    const found = { ...row, fingerprint: fingerprintOf(rsa(row.algorithm)) }
    t.strictSame(keysOf([key(6, rsa(row.algorithm)), userId]), [found], `algorithm ${row.algorithm}`)
    const primary = { fingerprint: fingerprintOf(rsa(1, 2048)), algorithm: 1, rsaBits: 2048 }
    t.strictSame(keysOf([key(6, rsa(1, 2048)), userId, key(14, rsa(row.algorithm))]), [primary, found], 'a subkey')
  }
  const shortest = hex('04 00000001 16 0102')
  t.strictSame(keysOf([key(6, shortest)]), [{ fingerprint: fingerprintOf(shortest), algorithm: 22, rsaBits: undefined }])
})

void t.test('a file that holds a private key, an old key or no key first is refused', async (t) => {
  const secret = { why: 'contains a private key; export the public key' }
  const version = { why: 'contains a key of a version other than 4' }
  const first = { why: 'does not begin with a public key' }
  const rows: [string, Packet[], { why: string }][] = [
    ['nothing', [], first],
    ['a name first', [userId, key(6, rsa(1))], first],
    ['a subkey first', [key(14, rsa(1))], first],
    ['a private subkey first', [key(7, rsa(1))], first],
    ['a private key', [key(5, rsa(1))], secret],
    ['a private key behind a public one', [key(6, rsa(1)), key(5, rsa(1))], secret],
    ['a private subkey', [key(6, rsa(1)), key(7, rsa(1))], secret],
    ['version 3', [key(6, Buffer.concat([hex('03'), rsa(1).subarray(1)]))], version],
    ['a subkey of version 6', [key(6, rsa(1)), key(14, Buffer.concat([hex('06'), rsa(1).subarray(1)]))], version],
    ['a key that ends early', [key(6, hex('04 00000001 16 01'))], version],
  ]
  for (const [name, packets, expected] of rows) t.strictSame(keysOf(packets), expected, name)
})

const payload = Buffer.from('tree 0123\n\nFirst\n')
const area = (...subpackets: string[]): Buffer => {
  const bytes = Buffer.concat(subpackets.map(hex))
  return Buffer.concat([u16(bytes.length), bytes])
}
const keyId = '0123456789abcdef'
const fingerprint = 'fedcba9876543210fedcba987654321001234567'
const byKeyId = `09 10 ${keyId}`
const byFingerprint = `16 21 04 ${fingerprint}`
const created = '05 02 5e000000'
const names: Record<number, string> = { 8: 'sha256', 9: 'sha384', 10: 'sha512' }

type Parts = {
  head?: string
  digest?: number
  hashed?: Buffer
  unhashed?: Buffer
  check?: (sum: Buffer) => Buffer
  numbers?: string
  tag?: number
}

/** A signature packet over `payload`, right but for the parts. */
function signed({
  head = '04 00 16',
  digest = 8,
  hashed = area(created, byFingerprint),
  unhashed = area(byKeyId),
  ...parts
}: Parts): Packet {
  const signedPart = Buffer.concat([hex(head), Buffer.from([digest]), hashed])
  const sum = createHash(names[digest] ?? 'sha256')
    .update(payload)
    .update(signedPart)
    .update(hex('04 ff'))
    .update(u32(signedPart.length))
    .digest()
  const check = (parts.check ?? ((bytes) => bytes))(sum.subarray(0, 2))
  return { tag: parts.tag ?? 2, body: Buffer.concat([signedPart, unhashed, check, hex(parts.numbers ?? '0001 01 0009 01ff')]) }
}

const read = (parts: Parts) => signatureOf([signed(parts)], payload)

void t.test('a signature names its algorithm, its digest, and its issuer as far as it does', async (t) => {
  const none = area()
  const both = { keyId: keyId.toUpperCase(), fingerprint: fingerprint.toUpperCase() }
  const rows: [string, Parts, { keyId: string | undefined; fingerprint: string | undefined }][] = [
    ['both', {}, both],
    ['both signed', { hashed: area(byKeyId, byFingerprint), unhashed: none }, both],
    ['both unsigned', { hashed: none, unhashed: area(byFingerprint, byKeyId) }, both],
    ['the key id', { hashed: area(created, byKeyId), unhashed: none }, { ...both, fingerprint: undefined }],
    ['the fingerprint', { unhashed: none }, { ...both, keyId: undefined }],
    ['marked critical', { hashed: area(`09 90 ${keyId}`, `16 a1 04 ${fingerprint}`), unhashed: none }, both],
    ['neither', { hashed: none, unhashed: none }, { keyId: undefined, fingerprint: undefined }],
    ['the signed one first', { hashed: area(byKeyId), unhashed: area('09 10 1111111111111111') }, { ...both, fingerprint: undefined }],
  ]
  for (const [name, parts, issuer] of rows) t.strictSame(read(parts), { algorithm: 22, digest: 8, ...issuer }, name)
  for (const digest of [8, 9, 10]) t.strictSame(read({ digest }), { algorithm: 22, digest, ...both }, names[digest] ?? '')
  t.strictSame(read({ digest: 2, check: () => hex('0000') }), { algorithm: 22, digest: 2, ...both }, 'a weak digest is not computed')
  t.strictSame(read({ numbers: '' }), { algorithm: 22, digest: 8, ...both }, 'no numbers')
})

void t.test('a signature that is not one plain packet of version 4 is refused', async (t) => {
  const notPlain = { why: 'carries a PGP signature that is not one plain signature packet of version 4' }
  const rows: [string, Parts][] = [
    ['another packet', { tag: 6 }],
    ['version 3', { head: '03 00 16' }],
    ['over text', { head: '04 01 16' }],
    ['a subpacket that is too long', { hashed: area('06 02 5e000000') }],
    ['a subpacket of no length', { hashed: area('00') }],
    ['an unsigned subpacket that is too long', { unhashed: area('0a 10 0123456789abcdef') }],
    ['a subpacket whose length ends early', { hashed: area('c0') }],
    ['signed subpackets that are too long', { hashed: hex('7fff') }],
    ['unsigned subpackets that are too long', { unhashed: hex('7fff') }],
  ]
  for (const [name, parts] of rows) t.strictSame(read(parts), notPlain, name)
  for (const numbers of ['00', '0000', '0001 03', '0002 01', '0009 00ff', '0009 01', '0001 01 00', '0001 01 ff', '0011 0200ff', '0008 7f'])
    t.strictSame(read({ numbers }), notPlain, `numbers ${numbers}`)
  t.strictSame(signatureOf(undefined, payload), notPlain, 'no packets')
  t.strictSame(signatureOf([], payload), notPlain, 'nothing')
  t.strictSame(signatureOf([signed({}), signed({})], payload), notPlain, 'two')
  const { body } = signed({ numbers: '' })
  for (let length = 0; length < body.length; length += 1)
    t.strictSame(signatureOf([{ tag: 2, body: body.subarray(0, length) }], payload), notPlain, `its first ${length} bytes`)
  const shortest = signed({ numbers: '', hashed: area(), unhashed: area() }).body
  t.strictSame(
    signatureOf([{ tag: 2, body: shortest.subarray(0, 9) }], payload),
    notPlain,
    'a signature without subpackets that ends early',
  )
})

void t.test('numbers are accepted with exactly their bits', async (t) => {
  for (const numbers of [
    '0001 01',
    '0002 02',
    '0002 03',
    '0008 80',
    '0008 ff',
    '0009 0100',
    '0010 8000',
    '0011 010000',
    '0001 01 0002 03 0008 ff',
  ])
    t.equal('why' in read({ numbers }), false, numbers)
})

void t.test('an unsigned part may name the issuer, once in each form and not critical', async (t) => {
  const unsigned = { why: 'carries a PGP signature with an unsigned part' }
  const rows: [string, string[]][] = [
    ['a time', [created]],
    ['a time beside the key id', [byKeyId, created]],
    ['the key id twice', [byKeyId, byKeyId]],
    ['the fingerprint twice', [byFingerprint, byFingerprint]],
    ['a critical key id', [`09 90 ${keyId}`]],
    ['a notation as long as two', [byKeyId, byFingerprint, created]],
  ]
  for (const [name, subpackets] of rows) t.strictSame(read({ unhashed: area(...subpackets) }), unsigned, name)
})

void t.test('a signature with another digest than the payload has is refused', async (t) => {
  const other = { why: 'does not match its signature' }
  t.strictSame(read({ check: (sum) => Buffer.from([sum[0] ?? 0, (sum[1] ?? 0) ^ 1]) }), other)
  t.strictSame(read({ check: (sum) => Buffer.from([(sum[0] ?? 0) ^ 1, sum[1] ?? 0]) }), other)
  t.strictSame(signatureOf([signed({})], Buffer.from('other')), other)
})

void t.test('digests and keys that are too weak are named', async (t) => {
  const named: [number, string | undefined][] = [
    [1, 'MD5'],
    [2, 'SHA-1'],
    [3, 'RIPEMD-160'],
    [8, undefined],
    [9, undefined],
    [10, undefined],
    [11, 'digest 11'],
  ]
  for (const [digest, name] of named) t.equal(weakDigestOf({ digest }), name, `digest ${digest}`)
  const keys: [number, number | undefined, string | undefined][] = [
    [1, 1024, 'RSA of 1024 bits'],
    [1, 2047, 'RSA of 2047 bits'],
    [1, 2048, undefined],
    [1, 4096, undefined],
    [16, undefined, 'public-key algorithm 16'],
    [17, undefined, 'DSA'],
    [18, undefined, 'public-key algorithm 18'],
    [19, undefined, undefined],
    [20, undefined, 'public-key algorithm 20'],
    [22, undefined, undefined],
    [23, undefined, 'public-key algorithm 23'],
  ]
  for (const [algorithm, rsaBits, name] of keys) t.equal(weaknessOf({ algorithm, rsaBits }), name, `algorithm ${algorithm} ${rsaBits}`)
})
