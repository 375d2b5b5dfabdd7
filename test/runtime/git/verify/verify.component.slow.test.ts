import { readdirSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { type CommitHash, parseCommitHash } from '../../../../runtime/api/values.ts'
import { type Keyring, readKeyring } from '../../../../runtime/git/verify/keyring.ts'
import { objectId } from '../../../../runtime/git/verify/signed-object.ts'
import { type SignedContents, type Verified, verify } from '../../../../runtime/git/verify/verify.ts'
import { matchObject } from '../../../support/assertions.ts'
import { makeRepository, type Repository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import { makeGpg, makeSshKey, rawObject, type Sign, signCommit, signTag } from '../../../support/signing.ts'

const tools = ['git', 'gpg', 'gpgv', 'ssh-keygen'] as const

function setUp(t: Parameters<typeof temporaryFolder>[0]) {
  const folder = temporaryFolder(t, 'signatures')
  const repository = makeRepository(path.join(folder, 'repository'))
  const commit = repository.commit({ 'a.txt': 'one' }, 'First')
  return { folder, repository, commit, raw: rawObject(repository, 'commit', commit) }
}

function keyringOf(...files: (Buffer | string)[]): Keyring {
  const read = readKeyring(new Map(files.map((file, index) => [`file-${index}`, Buffer.from(file)])))
  if (read.kind === 'unusable') throw new Error(read.why)
  return read.keyring
}

function ask(folder: string, contents: SignedContents, keyring: Keyring): Promise<Verified> {
  return verify(contents, keyring, { folder: path.join(folder, 'tools'), timeoutMs: 30_000, signal: AbortSignal.timeout(60_000) })
}

/** Verifies a commit by its bytes, with the ID that belongs to them. */
function askCommit(folder: string, commitBytes: Buffer, keyring: Keyring, format: 'sha1' | 'sha256' = 'sha1'): Promise<Verified> {
  const commit = parseCommitHash(objectId('commit', commitBytes, format))
  return ask(folder, { mode: 'Commit', commit, commitBytes, ref: 'refs/heads/main', tag: undefined }, keyring)
}

/** The reason of a refusal, without the ID at its start. */
function why(found: Verified): string {
  return found.kind === 'refused' ? found.why.replace(/^(commit|tag) [0-9a-f]{40,64} /, '$1 ') : `verified ${JSON.stringify(found)}`
}

void t.test('commits and tags signed by git are verified in both object formats, with PGP and with SSH', async (t) => {
  if (!requires(t, ...tools)) return
  const folder = temporaryFolder(t, 'signatures')
  const gpg = makeGpg(t)
  const ann = gpg.key('Ann')
  const ben = makeSshKey(folder, 'ben')
  const keyring = keyringOf(ann.publicKey(), ben.publicKey)
  const programs = {
    openpgp: { key: ann.fingerprint, signer: { key: ann.fingerprint, by: 'Ann <ann@example.com>' } },
    ssh: { key: `${ben.file}.pub`, signer: { key: ben.fingerprint, by: 'ben@example.com' } },
  }
  for (const format of ['sha1', 'sha256'] as const) {
    for (const [program, { key, signer }] of Object.entries(programs)) {
      const repository = makeRepository(path.join(folder, `${format}-${program}`), format)
      const settings = { 'gpg.format': program, 'gpg.program': gpg.program, 'user.signingKey': key, 'commit.gpgSign': 'true' }
      for (const [name, value] of Object.entries(settings)) repository.git('config', name, value)
      const commit = parseCommitHash(repository.commit({ 'a.txt': 'one' }, 'Signed\n\nwith a body\n'))
      repository.git('tag', '-s', '-m', 'Release one', 'v1')
      const contents: SignedContents = { mode: 'TagAndCommit', commit, ref: 'refs/tags/v1', ...bytesOf(repository, commit, 'v1') }
      t.strictSame(await ask(folder, contents, keyring), { kind: 'verified', commit: signer, tag: signer }, `${format} ${program}`)
      t.strictSame(await ask(folder, { ...contents, mode: 'Commit' }, keyring), { kind: 'verified', commit: signer })
      t.strictSame(await ask(folder, { ...contents, mode: 'Tag' }, keyring), { kind: 'verified', tag: signer })
    }
  }
})

function bytesOf(repository: Repository, commit: string, tag: string): Pick<SignedContents, 'commitBytes' | 'tag'> {
  const id = parseCommitHash(repository.git('rev-parse', `refs/tags/${tag}`).toString('utf8').trim())
  return { commitBytes: rawObject(repository, 'commit', commit), tag: { id, bytes: rawObject(repository, 'tag', id) } }
}

void t.test('a signature by an unknown, weak, expired or revoked key is refused with the key and the reason', async (t) => {
  if (!requires(t, ...tools)) return
  const { folder, raw } = setUp(t)
  const gpg = makeGpg(t)
  const [rsa, weak, dsa] = [
    gpg.key('Rsa', { algorithm: 'rsa2048' }),
    gpg.key('Weak', { algorithm: 'rsa1024' }),
    gpg.key('Dsa', { algorithm: 'dsa2048' }),
  ]
  const past = gpg.key('Past', { at: '20200101T000000', expire: '1y' })
  const revoked = gpg.key('Revoked')
  const old = gpg.key('Old', { at: '20200101T000000' })
  const stranger = gpg.key('Stranger')
  const inPast = ['--faked-system-time', '20200201T000000!']
  const keyring = () => keyringOf(...[rsa, weak, dsa, past, revoked, old].map((key) => key.publicKey()))
  const before = keyring()
  const signedBeforeRevocation = signCommit(raw, revoked.sign())
  matchObject(t, await askCommit(folder, signedBeforeRevocation, before), { kind: 'verified' })
  gpg.revoke(revoked)
  const rows: [string, Buffer, string][] = [
    ['not signed', raw, 'commit is not signed'],
    ['unknown', signCommit(raw, stranger.sign()), `commit is signed by PGP key ${stranger.fingerprint}, which is not in the Secret`],
    ['expired', signCommit(raw, past.sign(...inPast)), `commit is signed by PGP key ${past.fingerprint}, which has expired`],
    ['revoked', signedBeforeRevocation, `commit is signed by PGP key ${revoked.fingerprint}, which is revoked`],
    [
      'RSA of 1024 bits',
      signCommit(raw, weak.sign()),
      `commit is signed by PGP key ${weak.fingerprint}, which is too weak: RSA of 1024 bits`,
    ],
    ['DSA', signCommit(raw, dsa.sign()), `commit is signed by PGP key ${dsa.fingerprint}, which is too weak: DSA`],
    ['SHA-1', signCommit(raw, rsa.sign('--digest-algo', 'SHA1')), 'commit is signed with SHA-1, which is too weak'],
    [
      'a signature that ended',
      signCommit(raw, old.sign(...inPast, '--default-sig-expire', '1d')),
      'commit carries a signature that has expired',
    ],
    [
      'a signature over text',
      signCommit(raw, rsa.sign('--textmode')),
      'commit carries a PGP signature that is not one plain signature packet of version 4',
    ],
  ]
  for (const [name, bytes, expected] of rows) t.equal(why(await askCommit(folder, bytes, keyring())), expected, name)
  matchObject(t, await askCommit(folder, signCommit(raw, rsa.sign()), keyring()), { kind: 'verified' }, 'RSA of 2048 bits')
})

void t.test('a subkey signs for its key until it expires', async (t) => {
  if (!requires(t, ...tools)) return
  const { folder, raw } = setUp(t)
  const gpg = makeGpg(t)
  const primary = gpg.key('Ann', { usage: 'cert', at: '20200101T000000' })
  const old = gpg.subkey(primary, { at: '20200101T000000', expire: '1y' })
  const signedThen = signCommit(raw, old.sign('--faked-system-time', '20200201T000000!'))
  const present = gpg.subkey(primary)
  const keyring = keyringOf(primary.publicKey())
  t.strictSame(await askCommit(folder, signCommit(raw, present.sign()), keyring), {
    kind: 'verified',
    commit: { key: present.fingerprint, by: 'Ann <ann@example.com>' },
  })
  t.equal(why(await askCommit(folder, signedThen, keyring)), `commit is signed by PGP key ${old.fingerprint}, which has expired`)
})

void t.test('an SSH key verifies git signatures only if it is valid and strong', async (t) => {
  if (!requires(t, ...tools)) return
  const { folder, raw } = setUp(t)
  const keys = {
    ann: makeSshKey(folder, 'ann'),
    curve: makeSshKey(folder, 'curve', '-t', 'ecdsa', '-b', '256'),
    rsa: makeSshKey(folder, 'rsa', '-t', 'rsa', '-b', '2048'),
    weak: makeSshKey(folder, 'weak', '-t', 'rsa', '-b', '1024'),
    past: makeSshKey(folder, 'past'),
    later: makeSshKey(folder, 'later'),
    stranger: makeSshKey(folder, 'stranger'),
  }
  const allowed = [
    `release@example.com namespaces="git,file" ${keys.curve.publicKey}`,
    `past@example.com valid-before="20200101" ${keys.past.publicKey}`,
    `later@example.com valid-after="29990101" ${keys.later.publicKey}`,
  ]
  const keyring = keyringOf(keys.ann.publicKey, `# the team\n\n${keys.rsa.publicKey}${keys.weak.publicKey}`, allowed.join(''))
  const found = async (sign: Sign) => await askCommit(folder, signCommit(raw, sign), keyring)
  t.strictSame(await found(keys.ann.sign()), { kind: 'verified', commit: { key: keys.ann.fingerprint, by: 'ann@example.com' } })
  t.strictSame(await found(keys.curve.sign()), { kind: 'verified', commit: { key: keys.curve.fingerprint, by: 'release@example.com' } })
  matchObject(t, await found(keys.rsa.sign()), { kind: 'verified', commit: { key: keys.rsa.fingerprint } })
  const is = (key: keyof typeof keys, what: string) => `commit is signed by SSH key ${keys[key].fingerprint}, which ${what}`
  t.equal(why(await found(keys.weak.sign())), is('weak', 'is too weak: RSA of 1024 bits'))
  t.equal(why(await found(keys.past.sign())), is('past', 'has expired'))
  t.equal(why(await found(keys.later.sign())), is('later', 'is not valid yet'))
  t.equal(why(await found(keys.stranger.sign())), is('stranger', 'is not in the Secret'))
  t.equal(why(await found(keys.ann.sign('file'))), 'commit does not match its signature', 'a signature for another use')
})

void t.test('a signature of other content, or a malformed one, is refused', async (t) => {
  if (!requires(t, ...tools)) return
  const { folder, repository, raw } = setUp(t)
  const gpg = makeGpg(t)
  const [ann, ben] = [gpg.key('Ann'), makeSshKey(folder, 'ben')]
  const keyring = keyringOf(ann.publicKey(), ben.publicKey)
  const other = rawObject(repository, 'commit', repository.commit({ 'a.txt': 'two' }, 'Second'))
  for (const [kind, sign] of Object.entries({ PGP: ann.sign(), SSH: ben.sign() })) {
    const taken = () => sign(other)
    t.equal(
      why(await askCommit(folder, signCommit(raw, taken), keyring)),
      'commit does not match its signature',
      `${kind}: taken from elsewhere`,
    )
    const once = signCommit(raw, sign)
    matchObject(t, await askCommit(folder, once, keyring), { kind: 'verified' }, kind)
    t.equal(why(await askCommit(folder, signCommit(once, sign), keyring)), 'commit carries more than one signature', `${kind}: two`)
    t.equal(
      why(await askCommit(folder, signCommit(once, sign, 'gpgsig-sha256'), keyring)),
      'commit carries more than one signature',
      `${kind}: one of each object format`,
    )
    t.equal(
      why(await askCommit(folder, signCommit(raw, sign, 'gpgsig-sha256'), keyring)),
      'commit carries a signature of another object format',
      kind,
    )
    const behind = (payload: Buffer) => `${sign(payload)}and something more\n`
    t.equal(
      why(await askCommit(folder, signCommit(raw, behind), keyring)),
      'commit carries a signature whose armor is damaged',
      `${kind}: garbage behind`,
    )
    const named = { mode: 'Commit', commitBytes: once, ref: 'refs/heads/main', tag: undefined } as const
    const swapped = parseCommitHash(objectId('commit', other, 'sha1'))
    t.equal(
      why(await ask(folder, { ...named, commit: swapped }, keyring)),
      'commit does not match its ID in the mirror',
      `${kind}: swapped`,
    )
  }
})

void t.test('a tag proves the commit that it names, under its signed name', async (t) => {
  if (!requires(t, ...tools)) return
  const { folder, repository, commit, raw } = setUp(t)
  const ann = makeGpg(t).key('Ann')
  const keyring = keyringOf(ann.publicKey())
  repository.git('tag', '-a', '-m', 'One', 'v1')
  const plain = rawObject(repository, 'tag', 'v1')
  const other = repository.commit({ 'a.txt': 'two' })
  repository.git('tag', '-a', '-m', 'Tag of a tag', 'nested', 'v1')
  const nested = rawObject(repository, 'tag', 'nested')
  const askTag = async (bytes: Buffer | undefined, changes: Partial<SignedContents> = {}) => {
    const tag = bytes === undefined ? undefined : { id: objectId('tag', bytes, 'sha1') as CommitHash, bytes }
    const contents = { mode: 'Tag', commit: commit as CommitHash, commitBytes: raw, ref: 'refs/tags/v1', tag } as const
    return await ask(folder, { ...contents, ...changes }, keyring)
  }
  const signed = signTag(plain, ann.sign())
  matchObject(t, await askTag(signed), { kind: 'verified', tag: { key: ann.fingerprint } })
  t.equal(why(await askTag(undefined)), '"refs/tags/v1" is not an annotated tag, and only annotated tags can be signed')
  t.equal(why(await askTag(plain)), 'tag is not signed')
  t.equal(why(await askTag(signed, { ref: 'refs/tags/v2' })), 'tag was signed as "v1", not as "refs/tags/v2"', 'moved to another name')
  t.equal(why(await askTag(signed, { commit: other as CommitHash })), `tag points to commit ${commit}, not to ${other}`)
  t.equal(why(await askTag(signTag(nested, ann.sign()), { ref: 'refs/tags/nested' })), 'tag points to a tag, not to a commit')
  t.equal(why(await askTag(signTag(signed, ann.sign()))), 'tag carries more than one signature')
  t.equal(why(await askTag(Buffer.concat([signed, Buffer.from('trailer\n')]))), 'tag carries a signature whose armor is damaged')
  t.equal(why(await askTag(signed, { mode: 'TagAndCommit' })), 'commit is not signed', 'both are asked for')
  t.equal(why(await askTag(plain, { mode: 'TagAndCommit' })), 'tag is not signed')
})

void t.test('a verification leaves nothing on the disk', async (t) => {
  if (!requires(t, ...tools)) return
  const { folder, raw } = setUp(t)
  const ben = makeSshKey(folder, 'ben')
  matchObject(t, await askCommit(folder, signCommit(raw, ben.sign()), keyringOf(ben.publicKey)), { kind: 'verified' })
  t.strictSame(readdirSync(path.join(folder, 'tools')), [])
})
