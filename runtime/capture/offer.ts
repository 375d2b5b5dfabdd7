/**
 * The agent's side of a capture in a cluster: finds what was changed on its gateway, and hands it on once the controller wants it. Nothing is
 * read before somebody asks, and nothing is written to the data directory.
 */
import { captureBounds, type CaptureAnswer, type CaptureOffer, type Source } from '../delivery/protocol.ts'
import { Fault } from '../fault.ts'
import { mostLeftOut } from '../gatewaysync/schema/capture-spec.ts'
import { type CommitHash, isCommitHash, printable } from '../gatewaysync/values.ts'
import { readManifest } from '../sync/disk/manifest-file.ts'
import type { Wanted } from '../sync/model/wanted.ts'
import { isInterrupted } from '../sync/publish/journal.ts'
import { captureChanges } from './capture.ts'
import { digestOf } from './commit.ts'
import { findLocalChanges } from './local-changes.ts'

/** Answers one request: `again` until the controller says that it is over. Throws what reading and `send` throw. */
export type OfferChanges = (
  source: Source,
  wanted: Wanted,
  request: string,
  send: (offer: CaptureOffer) => Promise<CaptureAnswer>,
  signal: AbortSignal,
) => Promise<'done' | 'again'>

const maxPath = 1024
const maxWhy = 256

/** Remembers the request that is over, and what was found for one that is not. */
export function createCaptureOffers(): OfferChanges {
  let over = ''
  let found: CaptureOffer | undefined
  return async (source, wanted, request, send, signal) => {
    if (request === over) return 'done'
    if (found?.request !== request) found = await findOffer(source, wanted, request, signal)
    if (found === undefined) return 'again'
    const { changes, ...short } = found
    let { answer } = await send(short)
    if (answer === 'send') ({ answer } = await send({ ...short, changes }))
    if (answer !== 'done') return 'again'
    over = request
    found = undefined
    return 'done'
  }
}

/** What was changed since the commit that is in place; undefined while the folder is between two commits, or has none. */
async function findOffer(source: Source, wanted: Wanted, request: string, signal: AbortSignal): Promise<CaptureOffer | undefined> {
  if (isInterrupted(wanted.dataDir)) return undefined
  const manifest = readManifest(wanted.dataDir)
  const { state } = manifest
  if (state?.commit === undefined || state.commit === null || !isCommitHash(state.commit)) return undefined
  if (manifest.doubt !== undefined)
    throw new Fault('StateUnreadable', 'the records of the data directory are damaged; the next sync mends them')
  const commit: CommitHash = state.commit
  const facts = state.mode === undefined ? wanted.facts : { ...wanted.facts, mode: state.mode }
  const at: Wanted = { ...wanted, commit, ref: state.ref, facts }
  const { captured, leftOut } = captureChanges(await findLocalChanges(source, at, manifest, signal), at, () => false, captureBounds)
  return {
    commit,
    profile: wanted.profile.name,
    mode: facts.mode?.name ?? '',
    request,
    digest: digestOf(captured),
    files: captured.length,
    leftOut: leftOut.slice(0, mostLeftOut).map(({ path, why }) => ({ path: printable(path, maxPath), why: why.slice(0, maxWhy) })),
    leftOutFiles: leftOut.length,
    changes: captured.map(({ source, path, op, exec, content }) => ({
      source,
      path,
      op,
      exec,
      ...(content === undefined ? {} : { content: Buffer.from(content).toString('base64') }),
    })),
  }
}
