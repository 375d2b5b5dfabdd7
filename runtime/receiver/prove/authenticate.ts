/**
 * Authenticates a call: an HMAC over the raw bytes, or a token; either suffices. Pure, except for the hashing.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto'
import type { Fault } from '../../fault.ts'
import type { Headers } from '../payload/headers.ts'
import { beginStandard } from './standard-webhooks.ts'

/** The active keys of each method; undefined: the method is not configured. Several are active while one is rotated. */
export type Keys = {
  hmac: readonly string[] | undefined
  tokens: readonly string[] | undefined
  /** Why a configured key cannot be read; the method then has no key, but is never open. */
  fault?: Fault | undefined
  /** Why a key of the whole installation cannot be read, which callers may learn; about a single GatewaySync's key they learn nothing. */
  installationFault?: Fault | undefined
}

/** The outcome of authenticating a call. */
export type Proof =
  | { kind: 'proved'; method: 'hmac' | 'token' }
  /** Neither method is configured: anyone who reaches the endpoint may ask for a sync. */
  | { kind: 'open' }
  | { kind: 'refused' }

/** All of these carry a SHA-256 MAC of the raw body, with `sha256=` before the hex or without. */
export const signatureHeaders = [
  'x-hub-signature-256',
  'x-gitea-signature',
  'x-forgejo-signature',
  'x-gogs-signature',
  'x-hub-signature',
  'x-harness-signature',
] as const

/** Hosts that send the secret itself. */
export const tokenHeaders = ['x-gitlab-token', 'x-gitee-token'] as const

/** Authenticates a call whose body arrives piece by piece. */
export type Proving = {
  update(piece: Uint8Array): void
  /** To be called once, after the last piece; `now` is compared with the time in a Standard Webhooks call. */
  end(now: Temporal.Instant): Proof
}

/** Keeps nothing of the body: the hashes see each piece once. */
export function beginProving(headers: Headers, keys: Keys): Proving {
  if (keys.hmac === undefined && keys.tokens === undefined && keys.fault === undefined) {
    return { update: () => undefined, end: () => ({ kind: 'open' }) }
  }
  const signatures = signatureHeaders.flatMap((name) => macOf(headers[name]) ?? [])
  const hashes = signatures.length > 0 ? (keys.hmac ?? []).map((key) => createHmac('sha256', key)) : []
  const standard = beginStandard(headers, keys.hmac ?? [])
  return {
    update(piece) {
      for (const hash of hashes) hash.update(piece)
      standard.update(piece)
    },
    end(now) {
      const macs = hashes.map((hash) => hash.digest())
      const isSigned = macs.filter((mac) => signatures.filter((signature) => timingSafeEqual(signature, mac)).length > 0).length > 0
      if (standard.end(now) || isSigned) return { kind: 'proved', method: 'hmac' }
      return hasToken(headers, keys.tokens ?? []) ? { kind: 'proved', method: 'token' } : { kind: 'refused' }
    },
  }
}

/** Authenticates a call whose whole body has arrived. */
export function authenticate(headers: Headers, body: Uint8Array, keys: Keys, now: Temporal.Instant): Proof {
  const proving = beginProving(headers, keys)
  proving.update(body)
  return proving.end(now)
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

/** The active keys in the text of a Secret: one a line. */
export function keysIn(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.replace(/\r$/, ''))
    .filter((line) => line !== '')
}

/** Undefined for anything but a SHA-256 MAC: a host without a secret sends an empty one. */
function macOf(header: string | undefined): Buffer | undefined {
  const hex = /^(?:sha256=)?([0-9a-f]{64})$/i.exec(header?.trim() ?? '')?.[1]
  return hex === undefined ? undefined : Buffer.from(hex, 'hex')
}

function hasToken(headers: Headers, known: readonly string[]): boolean {
  const given = [bearerOf(headers['authorization']), ...tokenHeaders.map((name) => headers[name])].filter((token) => token !== undefined)
  return given.some((token) => known.filter((key) => sameText(token, key)).length > 0)
}

function bearerOf(header: string | undefined): string | undefined {
  return /^Bearer +([^\s]+)$/i.exec(header?.trim() ?? '')?.[1]
}

/** Compares hashes, so that the time reveals neither content nor length. */
function sameText(a: string, b: string): boolean {
  const [x, y] = [a, b].map((text) => createHash('sha256').update(text).digest())
  return x !== undefined && y !== undefined && timingSafeEqual(x, y)
}
