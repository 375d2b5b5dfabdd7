/**
 * Reads JSON: the bytes of commits in base64, and the text of a key file. Prints as JSON, for each commit, `verified`, the reason for its
 * refusal, or the fault: `reason: message`.
 */
import path from 'node:path'
import { tmpdir } from 'node:os'
import { mkdtempSync, rmSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { asFault } from '../../../runtime/platform/fault.ts'
import { parseCommitHash } from '../../../runtime/api/values.ts'
import { readKeyring } from '../../../runtime/git/verify/keyring.ts'
import { objectId } from '../../../runtime/git/verify/signed-object.ts'
import { verify } from '../../../runtime/git/verify/verify.ts'

export type SignaturesQuestion = { commits: string[]; keys: string }

const { commits, keys } = JSON.parse(await text(process.stdin)) as SignaturesQuestion
const read = readKeyring(new Map([['keys', Buffer.from(keys)]]))
if (read.kind === 'unusable') throw new Error(read.why)
const folder = mkdtempSync(path.join(tmpdir(), 'signatures-'))
const found = await Promise.all(
  commits.map(async (base64) => {
    const commitBytes = Buffer.from(base64, 'base64')
    const commit = parseCommitHash(objectId('commit', commitBytes, 'sha1'))
    const contents = { mode: 'Commit', commit, commitBytes, ref: 'refs/heads/main', tag: undefined } as const
    try {
      const verified = await verify(contents, read.keyring, { folder, timeoutMs: 30_000, signal: AbortSignal.timeout(60_000) })
      return verified.kind === 'refused' ? verified.why.replace(commit, 'it') : verified.kind
    } catch (error) {
      const { reason, message } = asFault(error)
      return `${reason}: ${message}`
    }
  }),
)
rmSync(folder, { recursive: true })
process.stdout.write(JSON.stringify(found))
