import { createHash } from 'node:crypto'
import t from 'tap'
import { fingerprintOf, parseKeyLine, signingKeyOf, weaknessOf } from '../../../../runtime/git/verify/ssh-keys.ts'

const string = (content: Buffer | string): Buffer => {
  const bytes = Buffer.from(content)
  return Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes])
}
const keyOf = (type: string): Buffer => Buffer.concat([string(type), string(Buffer.alloc(32, 7))])
const blob = keyOf('ssh-ed25519')
const encoded = blob.toString('base64')
const plain = `ssh-ed25519 ${encoded}`
const found = {
  fingerprint: `SHA256:${createHash('sha256').update(blob).digest('base64').replace('=', '')}`,
  type: 'ssh-ed25519',
  blob,
  validAfter: undefined,
  validBefore: undefined,
  by: undefined,
}

void t.test('a line of a public key or of allowed signers names the key, its owner and its times', async (t) => {
  const rows: [string, Partial<ReturnType<typeof parseKeyLine>>][] = [
    [plain, {}],
    [`  ssh-ed25519 \t ${encoded}  `, {}],
    [`${plain} Ann of the plant`, { by: 'Ann of the plant' }],
    [`ann@example.com ${plain}`, { by: 'ann@example.com' }],
    [`ann@example.com ${plain} a comment`, { by: 'ann@example.com' }],
    [`ann@example.com namespaces="git" ${plain}`, { by: 'ann@example.com' }],
    [`ann@example.com namespaces="file,git" ${plain}`, { by: 'ann@example.com' }],
    [`ann@example.com NAMESPACES="git" ${plain}`, { by: 'ann@example.com' }],
    [`ann@example.com valid-after="20260101" ${plain}`, { by: 'ann@example.com', validAfter: '20260101' }],
    [`ann@example.com valid-before=202601011530Z ${plain}`, { by: 'ann@example.com', validBefore: '202601011530Z' }],
    [
      `a valid-after="20260101Z",namespaces="git",valid-before="20260101153000" ${plain}`,
      { by: 'a', validAfter: '20260101Z', validBefore: '20260101153000' },
    ],
  ]
  for (const [line, parts] of rows) t.strictSame(parseKeyLine(line), { ...found, ...parts }, line)
})

void t.test('each type of key that OpenSSH has is read, and a key of a type with another name is not', async (t) => {
  const types = ['ssh-ed25519', 'ssh-rsa', 'ssh-dss', 'sk-ssh-ed25519@openssh.com', 'sk-ecdsa-sha2-nistp256@openssh.com']
  for (const type of [...types, ...['256', '384', '521'].map((bits) => `ecdsa-sha2-nistp${bits}`)]) {
    const line = parseKeyLine(`${type} ${keyOf(type).toString('base64')}`)
    t.strictSame('why' in line ? line : [line.type, line.blob], [type, keyOf(type)])
    const other = type === 'ssh-rsa' ? 'ssh-dss' : 'ssh-rsa'
    t.strictSame(parseKeyLine(`${other} ${keyOf(type).toString('base64')}`), { why: 'contains a damaged key' })
  }
})

void t.test('a line that is not a whole key with options that limit it is refused', async (t) => {
  const neither = 'is neither an SSH public key nor a line of allowed_signers'
  const [unreadable, damaged] = ['has options that cannot be read', 'contains a damaged key']
  const after = 'has a valid-after that is not a time'
  const rows: [string, string][] = [
    ['', neither],
    ['hello', neither],
    ['ssh-ed448 AAAA', neither],
    [`a namespaces="git" more ${plain}`, neither],
    ['ssh-ed25519', damaged],
    [`ssh-ed25519 ${encoded.slice(0, -4)}`, damaged],
    [`ssh-ed25519 ${encoded}=`, damaged],
    [`ssh-ed25519 ${Buffer.concat([blob, Buffer.from([0, 0])]).toString('base64')}`, damaged],
    [`ssh-ed25519 ${Buffer.from([0, 0, 0, 90, 1]).toString('base64')}`, damaged],
    [`a namespaces="file" ${plain}`, 'is for namespaces that do not include git'],
    [`a namespaces="github" ${plain}`, 'is for namespaces that do not include git'],
    [`a namespaces ${plain}`, 'is for namespaces that do not include git'],
    [`a valid-after="soon" ${plain}`, after],
    [`a valid-after ${plain}`, after],
    [`a valid-after="2026010" ${plain}`, after],
    [`a valid-after="x20260101" ${plain}`, after],
    [`a valid-after="20260101x" ${plain}`, after],
    [`a valid-after="2026010112" ${plain}`, after],
    [`a valid-before="2026010112301" ${plain}`, 'has a valid-before that is not a time'],
    [`a valid-before="202601011230ZZ" ${plain}`, 'has a valid-before that is not a time'],
    [`* cert-authority ${plain}`, 'has the option "cert-authority", which is not supported'],
    [`* Verify-Required="x" ${plain}`, 'has the option "Verify-Required", which is not supported'],
    [`a namespaces="git",cert-authority ${plain}`, 'has the option "cert-authority", which is not supported'],
    [`a namespaces="git",, ${plain}`, unreadable],
    [`a ,namespaces="git" ${plain}`, unreadable],
    [`a namespaces="git ${plain}`, unreadable],
    [`a "git" ${plain}`, unreadable],
    [`a na2mespaces="git" ${plain}`, 'has the option "", which is not supported'],
  ]
  for (const [line, why] of rows) t.strictSame(parseKeyLine(line), { why }, line)
})

void t.test('a signature names its key behind the magic words and version 1', async (t) => {
  const signature = (magic: string, version: number, ...rest: Buffer[]) =>
    Buffer.concat([Buffer.from(magic), Buffer.from([0, 0, 0, version]), ...rest])
  t.strictSame(signingKeyOf(signature('SSHSIG', 1, string(blob), string('git'))), blob)
  t.strictSame(signingKeyOf(signature('SSHSIG', 1, string(''))), Buffer.alloc(0))
  const rows: [string, Buffer][] = [
    ['nothing', Buffer.alloc(0)],
    ['another magic word', signature('SSHSIH', 1, string(blob))],
    ['something before it', signature('xSSHSIG', 1, string(blob))],
    ['version 2', signature('SSHSIG', 2, string(blob))],
    ['half a version', Buffer.from('SSHSIG\0\0\0')],
    ['no key', signature('SSHSIG', 1)],
    ['half a length', signature('SSHSIG', 1, Buffer.alloc(3))],
    ['half a key', signature('SSHSIG', 1, string(blob).subarray(0, -1))],
  ]
  for (const [name, bytes] of rows) t.equal(signingKeyOf(bytes), undefined, name)
})

void t.test('a fingerprint is the SHA-256 of the key in base64 without padding', async (t) => {
  t.equal(fingerprintOf(Buffer.from('abc')), 'SHA256:ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0')
})

void t.test('DSA, and RSA below 2,048 bits, are too weak', async (t) => {
  const modulus = (bits: number, zeros: number): Buffer => {
    const bytes = Buffer.alloc(Math.ceil(bits / 8), 0xff)
    bytes[0] = 1 << ((bits - 1) % 8)
    return Buffer.concat([Buffer.alloc(zeros), bytes])
  }
  const long = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from([0, 0, bytes.length >> 8, bytes.length & 0xff]), bytes])
  const rsa = (bits: number, zeros = 1) => Buffer.concat([string('ssh-rsa'), string(Buffer.from([1, 0, 1])), long(modulus(bits, zeros))])
  for (const bits of [1024, 1025, 2040, 2041, 2047]) t.equal(weaknessOf({ type: 'ssh-rsa', blob: rsa(bits) }), `RSA of ${bits} bits`)
  for (const bits of [2048, 2049, 4096]) t.equal(weaknessOf({ type: 'ssh-rsa', blob: rsa(bits) }), undefined, `${bits} bits`)
  t.equal(weaknessOf({ type: 'ssh-rsa', blob: rsa(2047, 2) }), 'RSA of 2047 bits', 'zeros before it do not count')
  for (const blob of [string('ssh-rsa'), Buffer.concat([string('ssh-rsa'), string('e')]), rsa(2048).subarray(0, -1)])
    t.equal(weaknessOf({ type: 'ssh-rsa', blob }), 'RSA of 0 bits', 'a key without a modulus')
  t.equal(weaknessOf({ type: 'ssh-rsa', blob: Buffer.concat([string('ssh-rsa'), string('e'), long(Buffer.alloc(256))]) }), 'RSA of 0 bits')
  t.equal(weaknessOf({ type: 'ssh-dss', blob }), 'DSA')
  t.equal(weaknessOf({ type: 'ssh-ed25519', blob }), undefined)
})
