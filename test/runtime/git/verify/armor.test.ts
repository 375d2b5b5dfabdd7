import fc from 'fast-check'
import t from 'tap'
import { decodePgp, decodeSsh, encodeSsh } from '../../../../runtime/git/verify/armor.ts'

const begin = '-----BEGIN PGP SIGNATURE-----'
const end = '-----END PGP SIGNATURE-----'
const damaged = { kind: 'refused', why: 'carries a signature whose armor is damaged' }
const digits = { kind: 'bytes', bytes: Buffer.from('123456789') }

/** The armor of the digits 1 to 9 with lines replaced; their CRC-24 is 21CF02, the check value of the CRC catalogs. */
function decode({ head = [''], body = ['MTIzNDU2Nzg5'], sum = ['=Ic8C'], first = begin, last = [end, ''] }) {
  return decodePgp([first, ...head, ...body, ...sum, ...last].join('\n'), 'PGP SIGNATURE')
}

void t.test('one PGP block is decoded, with or without headers, checksum and an empty line at its end', async (t) => {
  t.strictSame(decode({}), digits)
  t.strictSame(decode({ sum: [] }), digits, 'no checksum')
  t.strictSame(decode({ head: ['Version: GnuPG v2', 'Comment: ', ''] }), digits, 'headers')
  t.strictSame(decode({ head: [`Comment: ${'x'.repeat(200)}`, ''] }), digits, 'a header of the greatest length')
  t.strictSame(decode({ body: ['MTIz', 'NDU2', 'Nzg5'] }), digits, 'lines of one length')
  t.strictSame(decode({ body: ['MTIzNDU2', 'Nzg5'] }), digits, 'a shorter last line')
  t.strictSame(decode({ last: [end] }), digits, 'no newline at the end')
  t.strictSame(decode({ last: [end, '', ''] }), digits, 'an empty line at the end')
  t.strictSame(decode({ body: ['AAAA'], sum: ['=Je8i'] }), { kind: 'bytes', bytes: Buffer.alloc(3) }, 'a checksum of zeros')
})

void t.test('a PGP block with anything else in it is refused', async (t) => {
  const rows: [string, Parameters<typeof decode>[0]][] = [
    ['another label', { first: '-----BEGIN PGP MESSAGE-----' }],
    ['another label at the end', { last: ['-----END PGP MESSAGE-----', ''] }],
    ['text before it', { first: `x\n${begin}` }],
    ['an empty line before it', { first: `\n${begin}` }],
    ['text behind it', { last: [end, 'x'] }],
    ['two empty lines behind it', { last: [end, '', '', ''] }],
    ['no end', { last: [''] }],
    ['an unknown header', { head: ['Hash: SHA256', ''] }],
    ['an unknown header behind a known one', { head: ['Version: 1', 'Hash: SHA256', ''] }],
    ['a header with something before its name', { head: ['xVersion: 1', ''] }],
    ['a header without a space', { head: ['Version:1', ''] }],
    ['a header that is too long', { head: [`Comment: ${'x'.repeat(201)}`, ''] }],
    ['a header that is not ASCII', { head: ['Comment: é', ''] }],
    ['no empty line', { head: [] }],
    ['a wrong checksum', { sum: ['=Ic8D'] }],
    ['a checksum with something behind it', { sum: ['=Ic8C', 'MTIz'] }],
    ['two checksums', { sum: ['=Ic8C', '=Ic8C'] }],
    ['no content', { body: [], sum: [] }],
    ['an empty line in the content', { body: ['MTIz', '', 'NDU2Nzg5'] }],
    ['an empty line at the end of the content', { body: ['MTIzNDU2Nzg5', ''] }],
    ['a longer line', { body: ['MTIz', 'NDU2Nzg5'] }],
    ['a shorter line', { body: ['MTIzNDU2', 'Nz', 'g5'] }],
    ['padding that is missing', { body: ['MTIzNDU2Nzg'], sum: [] }],
    ['bits behind the content', { body: ['MTIzNDU2Nzh='], sum: [] }],
    ['a space', { body: ['MTIzNDU2Nzg5 '] }],
    ['the alphabet of URLs', { body: ['-___'], sum: [] }],
  ]
  for (const [name, parts] of rows) t.strictSame(decode(parts), damaged, name)
})

void t.test('encoded SSH signatures are decoded to the same bytes, and have lines of at most 70 characters', async (t) => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 1, maxLength: 400 }), (content) => {
      const bytes = Buffer.from(content)
      const armor = encodeSsh(bytes)
      t.strictSame(decodeSsh(armor), { kind: 'bytes', bytes })
      const lines = armor.split('\n')
      t.equal(
        lines.slice(1, -3).every((line) => line.length === 70),
        true,
      )
      t.equal((lines.at(-3)?.length ?? 0) <= 70, true)
    }),
    { numRuns: 50 },
  )
  t.equal(encodeSsh(Buffer.from('123456789')), '-----BEGIN SSH SIGNATURE-----\nMTIzNDU2Nzg5\n-----END SSH SIGNATURE-----\n')
})

void t.test('an SSH block without content, or with another label or damaged base64, is refused', async (t) => {
  const armor = encodeSsh(Buffer.from('123456789'))
  for (const text of [encodeSsh(Buffer.alloc(0)), armor.replaceAll('SSH', 'PGP'), armor.replace('5\n', '5=\n'), `${armor}x`, ''])
    t.strictSame(decodeSsh(text), damaged, JSON.stringify(text))
})
