/**
 * A signed commit with any changed bit, its signature included, is refused. The test recomputes the commit's ID, as an attacker would.
 */
import fc from 'fast-check'
import path from 'node:path'
import t from 'tap'
import { parseCommitHash } from '../../runtime/api/values.ts'
import { readKeyring } from '../../runtime/git/verify/keyring.ts'
import { objectId } from '../../runtime/git/verify/signed-object.ts'
import { verify } from '../../runtime/git/verify/verify.ts'
import { makeRepository, temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'
import { makeGpg, makeSshKey, rawObject, type Sign, signCommit } from '../support/signing.ts'

/** Armors a packet, so that the checksum matches the changed bytes. */
function armoured(bytes: Buffer, label: string, withSum: boolean): string {
  const lines = bytes.toString('base64').match(/.{1,64}/g) ?? []
  const head = [`-----BEGIN ${label}-----`, ...(withSum ? [''] : [])]
  return [...head, ...lines, `-----END ${label}-----`, ''].join('\n')
}

void t.test('a signed commit with any flipped bit is refused', async (t) => {
  if (!requires(t, 'git', 'gpg', 'gpgv', 'ssh-keygen')) return
  const folder = temporaryFolder(t, 'flipped')
  const repository = makeRepository(path.join(folder, 'repository'))
  const raw = rawObject(repository, 'commit', repository.commit({ 'a.txt': 'one' }, 'First\n\nwith a body'))
  const gpg = makeGpg(t)
  const [ann, rsa, ben] = [gpg.key('Ann'), gpg.key('Rsa', { algorithm: 'rsa2048' }), makeSshKey(folder, 'ben')]
  const read = readKeyring(
    new Map([ann.publicKey(), rsa.publicKey(), Buffer.from(ben.publicKey)].map((content, index) => [`${index}`, content])),
  )
  if (read.kind === 'unusable') throw new Error(read.why)
  const accepts = async (commitBytes: Buffer): Promise<boolean> => {
    const commit = parseCommitHash(objectId('commit', commitBytes, 'sha1'))
    const contents = { mode: 'Commit', commit, commitBytes, ref: 'refs/heads/main', tag: undefined } as const
    const options = { folder: path.join(folder, 'tools'), timeoutMs: 60_000, signal: AbortSignal.timeout(600_000) }
    return (await verify(contents, read.keyring, options)).kind === 'verified'
  }
  const bit = fc.record({ at: fc.nat(), bit: fc.nat(7) })
  for (const [name, sign] of Object.entries({ 'PGP, Ed25519': ann.sign(), 'PGP, RSA': rsa.sign(), SSH: ben.sign() })) {
    const signature = sign(raw)
    const once: Sign = () => signature
    const signed = signCommit(raw, once)
    t.ok(await accepts(signed), name)
    const anywhere = fc.asyncProperty(bit, async ({ at, bit }) => !(await accepts(flipped(signed, at, bit))))
    await t.resolves(fc.assert(anywhere, { numRuns: 60 }), `${name}: anywhere`)

    const label = name === 'SSH' ? 'SSH SIGNATURE' : 'PGP SIGNATURE'
    const body = Buffer.from(
      signature
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('-') && !line.startsWith('='))
        .join(''),
      'base64',
    )
    const withSum = name !== 'SSH'
    t.ok(await accepts(signCommit(raw, () => armoured(body, label, withSum))), `${name}: armoured anew`)
    const inside = fc.asyncProperty(
      bit,
      async ({ at, bit }) => !(await accepts(signCommit(raw, () => armoured(flipped(body, at, bit), label, withSum)))),
    )
    await t.resolves(fc.assert(inside, { numRuns: 60 }), `${name}: inside the signature`)
  }
})

function flipped(bytes: Buffer, at: number, bit: number): Buffer {
  const copy = Buffer.from(bytes)
  const index = at % copy.length
  copy[index] = (copy[index] ?? 0) ^ (1 << bit)
  return copy
}
