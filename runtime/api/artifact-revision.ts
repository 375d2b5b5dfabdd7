/**
 * Reads and writes revisions of OCI artifacts as Flux does: `v1.2@sha256:…`, or the digest alone. In requests and status they take the
 * place of the ref of a git commit. Pure.
 */
import { shortCommit } from './values.ts'

/** The digest of a manifest. */
export type Digest = `sha256:${string}`

export const digestPattern = /^sha256:[0-9a-f]{64}$/

export function isDigest(text: string): text is Digest {
  return digestPattern.test(text)
}

/** Returns the revision of a tag that points to a digest. */
export function artifactRevision(tag: string, digest: Digest): string {
  return `${tag}@${digest}`
}

/** Returns the digest of a revision; undefined for a ref of git, a tag, and a missing text. */
export function digestIn(revision: string | undefined): Digest | undefined {
  const digest = revision?.slice(revision.lastIndexOf('@') + 1)
  return digest !== undefined && isDigest(digest) ? digest : undefined
}

/** Returns what a person compares: the first digits of the artifact's digest, or else of the commit. */
export function shortRevision(commit: string, ref: string | undefined): string {
  return shortCommit(digestIn(ref)?.slice('sha256:'.length) ?? commit)
}
