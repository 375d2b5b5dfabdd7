/**
 * The agent's side of a capture in a cluster: finds what was changed on its gateway, and hands it on once the controller wants it. Nothing is
 * read before somebody asks or the spec says `on: Drift`, and nothing is written to the data directory.
 */
import path from 'node:path'
import type { Clock } from '../clock.ts'
import { captureBounds, type CaptureAnswer, type CaptureOffer, type Source } from '../delivery/protocol.ts'
import { type AskedBy, driftRequest, isSameRequest } from '../gatewaysync/decide/capture.ts'
import { mostLeftOut } from '../gatewaysync/schema/capture-spec.ts'
import { printable } from '../gatewaysync/values.ts'
import { outsideOfFile } from '../sync/disk/disk.ts'
import { readManifest } from '../sync/disk/manifest-file.ts'
import type { Wanted } from '../sync/model/wanted.ts'
import { captureChanges } from './capture.ts'
import { digestOf } from './commit.ts'
import { lookInPlace } from './in-place.ts'
import { afterLook, nextLookMs, type Watched } from './quiet.ts'

/** Answers one request: `again` until the controller says that it is over. Throws what reading and `send` throw. */
export type OfferChanges = (source: Source, wanted: Wanted, asked: AskedBy, send: Send, signal: AbortSignal) => Promise<'done' | 'again'>

/** What the last sync found to differ from the commit: how many files, and the first of them. */
export type Drift = { count: number; paths: readonly string[] }

/**
 * Hands on what was left alone for `quietMs`, once, though nobody asks; `drift` undefined: there is none. Returns in how many ms to call again,
 * undefined: once there is drift. Throws what reading and `send` throw.
 */
export type OfferQuietChanges = (
  source: Source,
  wanted: Wanted,
  quiet: { quietMs: number; subject: string; drift: Drift | undefined },
  send: Send,
  signal: AbortSignal,
) => Promise<number | undefined>

type Send = (offer: CaptureOffer) => Promise<CaptureAnswer>

const maxPath = 1024
const maxWhy = 256

/** Remembers the request that is over, and what was found for one that is not. */
export function createCaptureOffers(): OfferChanges {
  let of: AskedBy | undefined
  let isOver = false
  let found: CaptureOffer | undefined
  return async (source, wanted, asked, send, signal) => {
    if (of === undefined || !isSameRequest(of, asked)) {
      found = undefined
      isOver = false
    }
    of = asked
    if (isOver) return 'done'
    found ??= await findOffer(source, wanted, () => asked.request, signal)
    if (found === undefined || !(await handOver(found, send))) return 'again'
    isOver = true
    found = undefined
    return 'done'
  }
}

const askAgainMs = 5_000

/**
 * Remembers what it saw and when, of one GatewaySync and repository (`subject`); after a restart the changes must be left alone anew, and the controller knows which it has.
 */
export function createQuietOffers({ clock }: { clock: Pick<Clock, 'monotonicMs'> }): OfferQuietChanges {
  let watched: Watched | undefined
  let found: CaptureOffer | undefined
  let of = ''
  return async (source, wanted, { quietMs, subject, drift }, send, signal) => {
    if (drift === undefined || subject !== of) watched = found = undefined
    of = subject
    if (drift === undefined) return undefined
    // What was found before a sync cannot be committed on what that sync brought.
    if (found !== undefined && found.commit !== readManifest(wanted.dataDir).state?.commit) watched = found = undefined
    if (found === undefined) {
      const outside = outsideOf(wanted, drift)
      const nowMs = clock.monotonicMs()
      const dueMs = nextLookMs(watched, outside, quietMs)
      if (nowMs < dueMs) return dueMs - nowMs
      const seen = await findOffer(source, wanted, driftRequest, signal)
      if (seen === undefined) return quietMs / 2
      const looked = afterLook(watched, { digest: seen.digest, isNothing: seen.files === 0, outside }, nowMs, quietMs)
      watched = looked.watched
      if (!looked.isQuiet) return nextLookMs(watched, outside, quietMs) - nowMs
      found = seen
    }
    if (!(await handOver(found, send))) return askAgainMs
    found = undefined
    if (watched !== undefined) watched = { ...watched, isOver: true }
    return quietMs / 2
  }
}

/** What can be told of changed files without reading them or asking for the commit. */
function outsideOf({ dataDir, commit }: Wanted, { count, paths }: Drift): string {
  const stats = paths.map((each) => [each, outsideOfFile(path.join(dataDir, each))])
  return JSON.stringify([commit, count, stats])
}

/** Whether the controller says that it is over. */
async function handOver({ changes, ...short }: CaptureOffer, send: Send): Promise<boolean> {
  let { answer } = await send(short)
  if (answer === 'send') ({ answer } = await send({ ...short, changes }))
  return answer === 'done'
}

/** What was changed since the commit that is in place; undefined while the folder is between two commits, or has none. */
async function findOffer(
  source: Source,
  wanted: Wanted,
  requestOf: (digest: string) => string,
  signal: AbortSignal,
): Promise<CaptureOffer | undefined> {
  const seen = await lookInPlace(source, wanted, signal)
  if (seen === undefined) return undefined
  const { at, found } = seen
  const { captured, leftOut } = captureChanges(found, at, () => false, captureBounds)
  const digest = digestOf(captured)
  return {
    commit: at.commit,
    profile: wanted.profile.name,
    mode: at.facts.mode?.name ?? '',
    request: requestOf(digest),
    digest,
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
