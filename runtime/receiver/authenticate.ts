/**
 * Authenticates a call by an HMAC over the raw bytes or by a token; either suffices. Pure, except for the hashing.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import { Fault } from '../platform/fault.ts'
import type { Temporal } from '../platform/temporal.ts'
import type { Headers } from './payload/parts.ts'

/** The active keys of each method; undefined: the method is not configured. Several are active during a rotation. */
export type Keys = {
  hmac: readonly string[] | undefined
  tokens: readonly string[] | undefined
  /** Why a configured key cannot be read; the method then has no key, but still requires authentication. */
  fault?: Fault | undefined
  /** Why a key of the installation cannot be read, which callers may see; faults of a single GatewaySync's key are hidden. */
  installationFault?: Fault | undefined
}

/** The outcome of authenticating a call. */
export type Authentication =
  | { kind: 'authenticated'; method: 'hmac' | 'token' }
  /** Neither method is configured: anyone who reaches the endpoint may request a sync. */
  | { kind: 'open' }
  | { kind: 'refused' }

/** Each holds a SHA-256 MAC of the raw body in hex, with or without `sha256=`. */
export const signatureHeaders = [
  'x-hub-signature-256',
  'x-gitea-signature',
  'x-forgejo-signature',
  'x-gogs-signature',
  'x-hub-signature',
  'x-harness-signature',
] as const

/** Headers that carry the secret itself. */
export const tokenHeaders = ['x-gitlab-token', 'x-gitee-token'] as const

/** Authenticates a call while its body arrives. */
export type Authenticator = {
  /** Number of hashes computed over each piece. */
  hashes: number
  /** Stops hashing permanently: signatures are no longer valid, only a token. */
  dropHashes(): void
  update(piece: Uint8Array): void
  /** Call once, after the last piece; `now` is compared with the time in a Standard Webhooks call. */
  end(now: Temporal.Instant): Authentication
}

/** Keeps nothing of the body: each piece is hashed as it arrives. */
export function beginAuthentication(headers: Headers, keys: Keys): Authenticator {
  if (keys.hmac === undefined && keys.tokens === undefined && keys.fault === undefined) {
    return { hashes: 0, dropHashes: () => undefined, update: () => undefined, end: () => ({ kind: 'open' }) }
  }
  const signatures = signatureHeaders.flatMap((name) => macOf(headers[name]) ?? [])
  const hashes = signatures.length > 0 ? (keys.hmac ?? []).map((key) => createHmac('sha256', key)) : []
  const standard = beginStandard(headers, keys.hmac ?? [])
  const isToken = hasToken(headers, keys.tokens ?? [])
  return {
    hashes: hashes.length + standard.hashes,
    dropHashes() {
      hashes.length = 0
      standard.dropHashes()
    },
    update(piece) {
      for (const hash of hashes) hash.update(piece)
      standard.update(piece)
    },
    end(now) {
      const macs = hashes.map((hash) => hash.digest())
      const isSigned = matchesAny(macs, (mac) => matchesAny(signatures, (signature) => timingSafeEqual(signature, mac)))
      if (standard.end(now) || isSigned) return { kind: 'authenticated', method: 'hmac' }
      return isToken ? { kind: 'authenticated', method: 'token' } : { kind: 'refused' }
    },
  }
}

/** Reads the keys of both methods; if one throws, its fault is returned beside the other's keys. */
export async function gatherKeys(
  hmac: () => Promise<readonly string[] | undefined>,
  tokens: () => Promise<readonly string[] | undefined>,
  faultOf: (error: unknown) => Fault,
): Promise<Keys> {
  const [first, second] = await Promise.allSettled([hmac(), tokens()])
  const failed = [first, second].find((result) => result.status === 'rejected')
  return {
    hmac: first.status === 'fulfilled' ? first.value : undefined,
    tokens: second.status === 'fulfilled' ? second.value : undefined,
    fault: failed === undefined ? undefined : faultOf(failed.reason),
  }
}

/** Maximum keys in a Secret or file: a rotation needs two, and each costs a hash of every body. */
export const maxKeysOfSecret = 16
/** Of 16 keys of 256 bytes. A Secret may have 1 MiB, and a call without authentication reads the keys of many GatewaySyncs. */
const maxKeyBytes = 4 * 1024

/** Returns the active keys in a Secret or file named `name`: one per line. Throws AuthNotReady for too many, and for more than 4 KiB. */
export function keysIn(text: string, name: string): string[] {
  if (Buffer.byteLength(text) > maxKeyBytes) {
    throw new Fault(
      'AuthNotReady',
      `${name} is larger than ${maxKeyBytes / 1024} KiB; replace it with a key of, for example, 32 random bytes`,
    )
  }
  const keys = text
    .split('\n')
    .map((line) => line.replace(/\r$/, ''))
    .filter((line) => line !== '')
  if (keys.length <= maxKeysOfSecret) return keys
  throw new Fault(
    'AuthNotReady',
    `${name} contains ${keys.length} keys, one per line; remove old ones: at most ${maxKeysOfSecret} are accepted`,
  )
}

/** Decodes a SHA-256 MAC; undefined for anything else: a host without a secret sends an empty header. */
function macOf(header: string | undefined): Buffer | undefined {
  const hex = /^(?:sha256=)?([0-9a-f]{64})$/i.exec(header?.trim() ?? '')?.[1]
  return hex === undefined ? undefined : Buffer.from(hex, 'hex')
}

function hasToken(headers: Headers, known: readonly string[]): boolean {
  const given = [
    bearerOf(headers['authorization']),
    passwordOf(headers['authorization']),
    ...tokenHeaders.map((name) => headers[name]),
  ].filter((token) => token !== undefined)
  return given.some((token) => matchesAny(known, (key) => sameText(token, key)))
}

function bearerOf(header: string | undefined): string | undefined {
  return /^Bearer +([^\s]+)$/i.exec(header?.trim() ?? '')?.[1]
}

/** Returns the password of Basic authentication, all that service hooks of Azure DevOps offer; the user is ignored. */
function passwordOf(header: string | undefined): string | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header?.trim() ?? '')?.[1]
  if (encoded === undefined) return undefined
  const pair = Buffer.from(encoded, 'base64').toString('utf8')
  return pair.includes(':') ? pair.slice(pair.indexOf(':') + 1) : undefined
}

/** Unlike `some`, tests every candidate, so that the time does not reveal which key matched. */
function matchesAny<Item>(candidates: readonly Item[], matches: (candidate: Item) => boolean): boolean {
  return candidates.filter((candidate) => matches(candidate)).length > 0
}

/** Compares hashes, so that the time reveals neither content nor length. */
function sameText(a: string, b: string): boolean {
  const [x, y] = [a, b].map((text) => createHash('sha256').update(text).digest())
  return x !== undefined && y !== undefined && timingSafeEqual(x, y)
}

/** Tolerated difference of a sender's clock; the specification's own libraries allow as much. */
const toleranceSeconds = 5 * 60
/** Maximum signatures checked per call, which bounds its cost. */
const maxSignatures = 16

/**
 * `end`, called once after the last piece: whether a key made one of the signatures, and its time is near `now`. `hashes`: number of hashes
 * per piece. `dropHashes`: invalidates all signatures.
 */
type StandardAuthenticator = {
  hashes: number
  dropHashes(): void
  update(piece: Uint8Array): void
  end(now: Temporal.Instant): boolean
}

/**
 * Verifies Standard Webhooks (https://www.standardwebhooks.com), which GitLab's signing tokens follow: a MAC over id, time and body, so
 * that a recorded call cannot be replayed after five minutes. Begins to authenticate a call; its body is passed piece by piece as it
 * arrives.
 */
function beginStandard(headers: Headers, keys: readonly string[]): StandardAuthenticator {
  const { 'webhook-id': id = '', 'webhook-timestamp': time = '', 'webhook-signature': signatures = '' } = headers
  const given = signatures
    .split(' ')
    .slice(0, maxSignatures)
    .flatMap((signature) => webhookMac(signature) ?? [])
  const isComplete = id !== '' && /^\d{1,12}$/.test(time) && given.length > 0
  const hashes = isComplete ? keys.map((key) => createHmac('sha256', bytesOf(key)).update(`${id}.${time}.`)) : []
  return {
    hashes: hashes.length,
    dropHashes() {
      hashes.length = 0
    },
    update(piece) {
      for (const hash of hashes) hash.update(piece)
    },
    end(now) {
      const macs = hashes.map((hash) => hash.digest())
      if (Math.abs(now.epochMilliseconds / 1000 - Number(time)) > toleranceSeconds) return false
      return matchesAny(macs, (mac) => matchesAny(given, (one) => timingSafeEqual(one, mac)))
    },
  }
}

/** After `whsec_` a key is base64; any other form is used as is, as GitLab and others do. */
function bytesOf(key: string): Buffer {
  const encoded = /^whsec_((?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/.exec(key)?.[1]
  return encoded === undefined ? Buffer.from(key) : Buffer.from(encoded, 'base64')
}

/** Only `v1`: `v1a` uses an asymmetric key, which no configuration holds. */
function webhookMac(signature: string): Buffer | undefined {
  const encoded = /^v1,([A-Za-z0-9+/]{43}=)$/.exec(signature)?.[1]
  return encoded === undefined ? undefined : Buffer.from(encoded, 'base64')
}
