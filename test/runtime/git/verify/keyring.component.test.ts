import t from 'tap'
import { readKeyring } from '../../../../runtime/git/verify/keyring.ts'
import { matchObject } from '../../../support/assertions.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import { makeGpg, makeSshKey } from '../../../support/signing.ts'

function read(files: Record<string, string | Buffer>) {
  return readKeyring(new Map(Object.entries(files).map(([name, content]) => [name, Buffer.from(content)])))
}

function whyNot(files: Record<string, string | Buffer>): string {
  const found = read(files)
  return found.kind === 'unusable' ? found.why : 'usable'
}

function armored(bytes: Buffer): string {
  return `-----BEGIN PGP PUBLIC KEY BLOCK-----\n\n${bytes.toString('base64')}\n-----END PGP PUBLIC KEY BLOCK-----\n`
}

/** What the armor of a block holds. */
function bytesOf(armor: Buffer): Buffer {
  const lines = armor.toString('latin1').trim().split('\n')
  return Buffer.from(
    lines
      .slice(lines.indexOf('') + 1, -1)
      .filter((line) => !line.startsWith('='))
      .join(''),
    'base64',
  )
}

void t.test('a Secret may hold PGP and SSH keys, several in one file, with comments', async (t) => {
  if (!requires(t, 'gpg', 'ssh-keygen')) return
  const folder = temporaryFolder(t, 'keyring')
  const gpg = makeGpg(t)
  const [ann, ben] = [gpg.key('Ann'), gpg.key('Ben')]
  const subkey = gpg.subkey(ann)
  const [cleo, dora] = [makeSshKey(folder, 'cleo'), makeSshKey(folder, 'dora')]
  const found = read({
    'team.asc': `# the team\r\n\r\n${ann.publicKey().toString('latin1').replaceAll('\n', '\r\n')}\n${ben.publicKey().toString('latin1')}`,
    allowed_signers: `cleo@example.com,c@example.com namespaces="git",valid-after="20200101Z" ${cleo.publicKey}\n# more\n${dora.publicKey}`,
  })
  if (found.kind === 'unusable') throw new Error(found.why)
  t.equal(found.kind, 'keyring')
  t.strictSame(found.keyring.pgp, Buffer.concat([ann, ben].map(({ publicKey }) => bytesOf(publicKey()))), 'as gpgv takes them')
  t.strictSame([...found.keyring.pgpKeys.keys()].toSorted(), [ann, ben, subkey].map(({ fingerprint }) => fingerprint).toSorted())
  matchObject(t, found.keyring.sshKeys.get(cleo.fingerprint), { by: 'cleo@example.com,c@example.com', validAfter: '20200101Z' })
  matchObject(t, found.keyring.sshKeys.get(dora.fingerprint), { by: 'dora@example.com', validAfter: undefined })
})

void t.test('a file that cannot be parsed completely makes the Secret unusable and is named', async (t) => {
  if (!requires(t, 'gpg', 'ssh-keygen')) return
  const folder = temporaryFolder(t, 'keyring')
  const ann = makeGpg(t).key('Ann')
  const block = ann.publicKey().toString('latin1')
  const { publicKey: line, fingerprint } = makeSshKey(folder, 'ben')
  const [type = '', encoded = ''] = line.split(' ')
  const damaged = block.replace(/\n\n(.)/, (_all, first: string) => `\n\n${first === 'm' ? 'n' : 'm'}`)
  const rows: [string, Record<string, string | Buffer>, string][] = [
    ['nothing', {}, 'contains no key'],
    ['an empty file', { a: '\n' }, 'key a contains no key'],
    ['some text', { a: line, b: 'hello' }, 'key b is neither an SSH public key nor a line of allowed_signers (line 1)'],
    ['a damaged block', { a: damaged }, 'key a contains a damaged PGP block'],
    ['half a block', { a: block.slice(0, 120) }, 'key a contains a damaged PGP block'],
    ['a damaged line', { a: `${type} ${encoded.slice(0, -8)}` }, 'key a contains a damaged key (line 1)'],
    ['another type than the key has', { a: `ssh-rsa ${encoded}` }, 'key a contains a damaged key (line 1)'],
    [
      'a certificate authority',
      { a: `* cert-authority ${line}` },
      'key a has the option "cert-authority", which is not supported (line 1)',
    ],
    ['another namespace', { a: `* namespaces="file" ${line}` }, 'key a is for namespaces that do not include git (line 1)'],
    ['a time that is none', { a: `* valid-before="soon" ${line}` }, 'key a has a valid-before that is not a time (line 1)'],
    ['a binary keyring', { a: Buffer.from(block.split('\n').slice(2, -3).join(''), 'base64') }, 'neither'],
    ['a PGP key twice', { a: block, b: block }, `key b contains ${ann.fingerprint} more than once`],
    ['an SSH key twice', { a: `${line}${line}` }, `key a contains ${fingerprint} more than once`],
    ['another block', { a: damaged.replaceAll('PUBLIC KEY BLOCK', 'MESSAGE') }, 'key a is neither'],
    ['armor without a key', { a: armored(Buffer.from([0x80])) }, 'key a contains a damaged PGP block'],
    ['armor of a name', { a: armored(Buffer.from([0xb4, 1, 65])) }, 'key a does not begin with a public key'],
    ['a private key in the middle of a line', { a: 'x -----BEGIN PRIVATE KEY' }, 'key a is neither'],
  ]
  for (const [name, files, expected] of rows) t.ok(whyNot(files).includes(expected), `${name}: ${whyNot(files)}`)
})

void t.test('a private key is refused and not repeated in the message', async (t) => {
  if (!requires(t, 'gpg')) return
  const gpg = makeGpg(t)
  const ann = gpg.key('Ann')
  t.equal(whyNot({ a: ann.privateKey() }), 'key a contains a private key; export the public key')
  t.equal(
    whyNot({ a: '-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n' }),
    'key a contains a private key; export the public key',
  )
})

void t.test('a Secret may hold 500 keys', async (t) => {
  const block = (index: number): string => {
    return armored(Buffer.from([0x98, 8, 4, 0, 0, 0, 1, 1, index >> 8, index & 0xff]))
  }
  const blocks = Array.from({ length: 501 }, (_, index) => block(index))
  t.equal(whyNot({ a: blocks.slice(0, 500).join('') }), 'usable')
  const [ssh, mixed] = [`ssh-rsa ${Buffer.from('\0\0\0\x07ssh-rsa').toString('base64')}\n`, blocks.slice(0, 499).join('')]
  t.strictSame([whyNot({ a: ssh }), whyNot({ a: mixed, b: ssh })], ['usable', 'usable'])
  t.equal(whyNot({ a: blocks.slice(0, 500).join(''), b: ssh }), 'contains more than 500 keys; keep those that may sign')
  t.equal(whyNot({ a: block(0) + ssh }), 'usable', 'one of each')
  t.equal(
    whyNot({ a: blocks.slice(0, 300).join(''), b: blocks.slice(300).join('') }),
    'contains more than 500 keys; keep those that may sign',
  )
})
