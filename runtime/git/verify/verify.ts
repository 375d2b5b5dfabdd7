/**
 * Checks whether a commit, the tag that names it, or both are signed by a key of a Secret, as `spec.git.verify` requires. Anything that is
 * not certain is refused, with the reason.
 */
import { type CommitHash, objectFormatOf, printable } from '../../api/values.ts'
import { type ToolOptions, runTool } from '../command/tool.ts'
import type { Keyring } from './keyring.ts'
import { objectId, parseTag, type Split, splitCommit, type Signed } from './signed-object.ts'
import { Fault } from '../../platform/fault.ts'
import { decodeSsh, encodeSsh, decodePgp } from './armor.ts'
import { fingerprintOf, signingKeyOf, type SshKey, weaknessOf as sshWeaknessOf } from './ssh-keys.ts'
import { packetsOf, type PgpSignature, signatureOf, weakDigestOf, weaknessOf as pgpWeaknessOf } from './openpgp.ts'

/** The signer: the fingerprint of the key, and its name in the Secret. */
export type Signer = { key: string; by?: string }

/** `why` names the object and the problem. */
export type Verified = { kind: 'verified'; commit?: Signer; tag?: Signer } | { kind: 'refused'; why: string }

/** The fetched objects of one ref, and the required signatures. */
export type SignedContents = {
  mode: 'Commit' | 'Tag' | 'TagAndCommit'
  commit: CommitHash
  /** The commit as git stores it. */
  commitBytes: Buffer
  /** The full name of the desired ref. */
  ref: string
  /** The annotated tag of the desired ref, as git stores it; undefined if there is none. */
  tag: { id: CommitHash; bytes: Buffer } | undefined
}

/** Throws Timeout, GitKilled and ToolMissing: then the signature is unknown, and the commit is not accepted. */
export async function verify(contents: SignedContents, keyring: Keyring, options: ToolOptions): Promise<Verified> {
  const { mode } = contents
  const tag = mode === 'Commit' ? undefined : await verifyTag(contents, keyring, options)
  if (tag?.kind === 'bad') return { kind: 'refused', why: tag.why }
  const commit = mode === 'Tag' ? undefined : await verifyCommit(contents, keyring, options)
  if (commit?.kind === 'bad') return { kind: 'refused', why: commit.why }
  return {
    kind: 'verified',
    ...(commit === undefined ? {} : { commit: signerOf(commit) }),
    ...(tag === undefined ? {} : { tag: signerOf(tag) }),
  }
}

async function verifyCommit({ commit, commitBytes }: SignedContents, keyring: Keyring, options: ToolOptions): Promise<SignatureResult> {
  const format = objectFormatOf(commit)
  const name = `commit ${commit}`
  if (objectId('commit', commitBytes, format) !== commit) return rejected(name, 'does not match its ID in the mirror')
  return await verifySplit(name, splitCommit(commitBytes, format), keyring, options)
}

async function verifyTag({ commit, ref, tag }: SignedContents, keyring: Keyring, options: ToolOptions): Promise<SignatureResult> {
  if (tag === undefined) return rejected(`"${printable(ref)}"`, 'is not an annotated tag, and only annotated tags can be signed')
  const name = `tag ${tag.id}`
  const format = objectFormatOf(tag.id)
  if (objectId('tag', tag.bytes, format) !== tag.id) return rejected(name, 'does not match its ID in the mirror')
  const parsed = parseTag(tag.bytes, format)
  if (parsed.kind === 'refused') return rejected(name, parsed.why)
  if (parsed.type !== 'commit') return rejected(name, `points to a ${printable(parsed.type)}, not to a commit`)
  if (parsed.object !== commit) return rejected(name, `points to commit ${printable(parsed.object)}, not to ${commit}`)
  // A tag with another name, moved here, would present an old commit as a new one.
  if (ref !== `refs/tags/${parsed.name}`) return rejected(name, `was signed as "${printable(parsed.name)}", not as "${printable(ref)}"`)
  return await verifySplit(name, parsed.split, keyring, options)
}

async function verifySplit(name: string, split: Split, keyring: Keyring, options: ToolOptions): Promise<SignatureResult> {
  if (split.kind === 'unsigned') return rejected(name, 'is not signed')
  if (split.kind === 'refused') return rejected(name, split.why)
  const { signed } = split
  const check = kindOf(signed.armor)
  if (check === undefined) return rejected(name, 'carries a signature that is neither PGP nor SSH')
  const verified = await check(signed, keyring, options)
  return verified.kind === 'good' ? verified : rejected(name, verified.why)
}

function kindOf(armor: string): typeof verifyPgp | undefined {
  if (armor.startsWith('-----BEGIN PGP SIGNATURE-----\n')) return verifyPgp
  return armor.startsWith('-----BEGIN SSH SIGNATURE-----\n') ? verifySsh : undefined
}

function rejected(name: string, why: string): SignatureResult {
  return { kind: 'bad', why: `${name} ${why}` }
}

/** Lengths are those of the status. */
function signerOf({ key, by }: Extract<SignatureResult, { kind: 'good' }>): Signer {
  return { key, ...(by === undefined ? {} : { by: printable(by).slice(0, 256) }) }
}

type SignatureResult =
  /** `key` is a fingerprint; `by` the name that the Secret gives it. */
  | { kind: 'good'; key: string; by: string | undefined }
  /** Worded to follow the name of the object. */
  | { kind: 'bad'; why: string }

const namespace = 'git'
const signer = 'signer'
/** ssh-keygen's message for an unknown option or operation, as for `-Y verify` before OpenSSH 8.1. */
const isTooOld = /^usage:|(?:unknown|illegal|unrecognized) option/im

/**
 * Checks with `ssh-keygen -Y verify` whether an SSH key of the Secret made a signature for git, over a file of allowed signers that holds
 * only the key that the signature names. Throws Timeout, GitKilled and ToolMissing.
 */
async function verifySsh({ payload, armor }: Signed, { sshKeys }: Keyring, options: ToolOptions): Promise<SignatureResult> {
  const decoded = decodeSsh(armor)
  if (decoded.kind !== 'bytes') return bad(decoded.why)
  const made = signingKeyOf(decoded.bytes)
  if (made === undefined) return bad('carries a damaged SSH signature')
  const key = sshKeys.get(fingerprintOf(made))
  if (key === undefined) return bad(`is signed by SSH key ${fingerprintOf(made)}, which is not in the Secret`)
  const weakness = sshWeaknessOf(key)
  if (weakness !== undefined) return bad(`is signed by SSH key ${key.fingerprint}, which is too weak: ${weakness}`)
  const { code, stdout, stderr } = await runTool(
    {
      command: 'ssh-keygen',
      args: ['-Y', 'verify', '-n', namespace, '-I', signer, '-f', '{allowed}', '-s', '{signature}'],
      files: { allowed: Buffer.from(allowedSigners(key)), signature: Buffer.from(encodeSsh(decoded.bytes)) },
      input: payload,
    },
    options,
  )
  if (code === 0 && stdout.startsWith(`Good "${namespace}" signature for ${signer} with `))
    return { kind: 'good', key: key.fingerprint, by: key.by }
  if (stderr.includes('key has expired')) return bad(`is signed by SSH key ${key.fingerprint}, which has expired`)
  if (stderr.includes('key is not yet valid')) return bad(`is signed by SSH key ${key.fingerprint}, which is not valid yet`)
  if (code !== 0 && isTooOld.test(stderr))
    throw new Fault('ToolMissing', 'ssh-keygen is too old to check a signature (ssh-keygen -Y verify); install OpenSSH 8.1 or newer')
  return bad('does not match its signature')
}

function allowedSigners({ type, blob, validAfter, validBefore }: SshKey): string {
  const options = [
    `namespaces="${namespace}"`,
    ...(validAfter === undefined ? [] : [`valid-after="${validAfter}"`]),
    ...(validBefore === undefined ? [] : [`valid-before="${validBefore}"`]),
  ]
  return `${signer} ${options.join(',')} ${type} ${blob.toString('base64')}\n`
}

/**
 * Checks with gpgv whether an OpenPGP key of the Secret made a signature, over a keyring that holds only those keys. gpgv also exits with 0
 * for expired and revoked keys, so its status lines decide. Throws Timeout, GitKilled and ToolMissing.
 */
async function verifyPgp({ payload, armor }: Signed, { pgp, pgpKeys }: Keyring, options: ToolOptions): Promise<SignatureResult> {
  const decoded = decodePgp(armor, 'PGP SIGNATURE')
  if (decoded.kind !== 'bytes') return bad(decoded.why)
  const signature = signatureOf(packetsOf(decoded.bytes), payload)
  if ('why' in signature) return bad(signature.why)
  const digest = weakDigestOf(signature)
  if (digest !== undefined) return bad(`is signed with ${digest}, which is too weak`)
  const named = signature.fingerprint ?? signature.keyId
  const key = [...pgpKeys.values()].find(({ fingerprint }) => named !== undefined && fingerprint.endsWith(named))
  if (key === undefined)
    return bad(`is signed by ${named === undefined ? 'an unidentified PGP key' : `PGP key ${named}`}, which is not in the Secret`)
  const weakness = pgpWeaknessOf(key)
  if (weakness !== undefined) return bad(`is signed by PGP key ${key.fingerprint}, which is too weak: ${weakness}`)
  const { code, stdout, stderr } = await runTool(
    {
      command: 'gpgv',
      args: ['--homedir', '/nonexistent', '--keyring', '{keyring}', '--status-fd', '1', '{signature}', '-'],
      files: { keyring: pgp, signature: decoded.bytes },
      input: payload,
    },
    options,
  )
  const lines = statusLines(stdout)
  if (!lines.some(({ keyword }) => signatureKeyword.test(keyword)))
    throw new Fault('ToolMissing', `gpgv did not check the signature; install another version. Its output: ${firstLineOf(stderr)}`)
  return verdictOf(lines, { signature, fingerprint: key.fingerprint, code })
}

/** NEWSIG, GOODSIG, BADSIG, ERRSIG and others: gpgv prints at least one of them if it has checked the signature. */
const signatureKeyword = /SIG$/

function firstLineOf(stderr: string): string {
  return printable(stderr.split('\n')[0] ?? '', 200)
}

type Status = { keyword: string; fields: string[] }

/** gpg-interface of GnuPG's doc/DETAILS: `[GNUPG:] KEYWORD field…`. */
function statusLines(output: string): Status[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('[GNUPG:] '))
    .map((line) => {
      const [keyword = '', ...fields] = line.slice('[GNUPG:] '.length).split(' ')
      return { keyword, fields }
    })
}

type Verification = { signature: PgpSignature; fingerprint: string; code: number }

function verdictOf(lines: readonly Status[], { signature, fingerprint, code }: Verification): SignatureResult {
  const all = (keyword: string): Status[] => lines.filter((line) => line.keyword === keyword)
  if (all('REVKEYSIG').length > 0) return bad(`is signed by PGP key ${fingerprint}, which is revoked`)
  if (all('EXPKEYSIG').length > 0) return bad(`is signed by PGP key ${fingerprint}, which has expired`)
  if (all('EXPSIG').length > 0) return bad('carries a signature that has expired')
  const [[good], [valid]] = [all('GOODSIG'), all('VALIDSIG')]
  const once = ['NEWSIG', 'GOODSIG', 'VALIDSIG'].every((keyword) => all(keyword).length === 1)
  if (code !== 0 || !once || good === undefined || valid === undefined) return bad('does not match its signature')
  const [signer = '', , , , , , , digest, signatureClass] = valid.fields
  const agrees = signer === fingerprint && digest === String(signature.digest) && signatureClass === '00'
  const isNamed = signature.keyId === undefined || signer.endsWith(signature.keyId)
  if (!agrees || !isNamed) return bad('carries a signature that names another key than the one that made it')
  const by = Buffer.from(good.fields.slice(1).join(' '), 'latin1').toString('utf8')
  return { kind: 'good', key: signer, by: by === '' ? undefined : by }
}

function bad(why: string): SignatureResult {
  return { kind: 'bad', why }
}
