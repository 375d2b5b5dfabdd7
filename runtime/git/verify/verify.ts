/**
 * Checks whether a commit, the tag that names it, or both are signed by a key of a Secret, as `spec.git.verify` requires. Anything that is
 * not certain is refused, with the reason.
 */
import { type CommitHash, objectFormatOf, printable } from '../../api/values.ts'
import type { ToolOptions } from '../command/tool.ts'
import type { SignatureResult } from './signature-result.ts'
import type { Keyring } from './keyring.ts'
import { objectId, parseTag, type Split, splitCommit } from './signed-object.ts'
import { verifyPgp } from './verify-pgp.ts'
import { verifySsh } from './verify-ssh.ts'

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
  if (objectId('commit', commitBytes, format) !== commit) return bad(name, 'is not what the mirror holds under its id')
  return await verifySplit(name, splitCommit(commitBytes, format), keyring, options)
}

async function verifyTag({ commit, ref, tag }: SignedContents, keyring: Keyring, options: ToolOptions): Promise<SignatureResult> {
  if (tag === undefined) return bad(`"${printable(ref)}"`, 'is not an annotated tag, and only annotated tags can be signed')
  const name = `tag ${tag.id}`
  const format = objectFormatOf(tag.id)
  if (objectId('tag', tag.bytes, format) !== tag.id) return bad(name, 'is not what the mirror holds under its id')
  const parsed = parseTag(tag.bytes, format)
  if (parsed.kind === 'refused') return bad(name, parsed.why)
  if (parsed.type !== 'commit') return bad(name, `is of a ${printable(parsed.type)}, not of a commit`)
  if (parsed.object !== commit) return bad(name, `is of commit ${printable(parsed.object)}, not of ${commit}`)
  // A tag with another name, moved here, would present an old commit as a new one.
  if (ref !== `refs/tags/${parsed.name}`) return bad(name, `was signed as "${printable(parsed.name)}", not as "${printable(ref)}"`)
  return await verifySplit(name, parsed.split, keyring, options)
}

async function verifySplit(name: string, split: Split, keyring: Keyring, options: ToolOptions): Promise<SignatureResult> {
  if (split.kind === 'unsigned') return bad(name, 'is not signed')
  if (split.kind === 'refused') return bad(name, split.why)
  const { signed } = split
  const check = kindOf(signed.armor)
  if (check === undefined) return bad(name, 'carries a signature of another kind than PGP and SSH')
  const verified = await check(signed, keyring, options)
  return verified.kind === 'good' ? verified : bad(name, verified.why)
}

function kindOf(armor: string): typeof verifyPgp | undefined {
  if (armor.startsWith('-----BEGIN PGP SIGNATURE-----\n')) return verifyPgp
  return armor.startsWith('-----BEGIN SSH SIGNATURE-----\n') ? verifySsh : undefined
}

function bad(name: string, why: string): SignatureResult {
  return { kind: 'bad', why: `${name} ${why}` }
}

/** Lengths are those of the status. */
function signerOf({ key, by }: Extract<SignatureResult, { kind: 'good' }>): Signer {
  return { key, ...(by === undefined ? {} : { by: printable(by).slice(0, 256) }) }
}
