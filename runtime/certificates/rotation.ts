/**
 * Decides the life cycle of a self-managed certificate: given what is stored and the time, returns what to store and serve now, and when to
 * check again. Clients receive a CA long before it signs, and trust it long afterwards:
 *
 *   CA A          ├── signs ────────────────────────────┤
 *   CA B                                  ├── announced ─┼── signs ──────
 *   trusted       A                       A B            B A          B
 *                                         └── overlap ───┴── overlap ─┘
 *
 * Pure, except for the generation of keys.
 */
import { Temporal } from '../platform/temporal.ts'
import type { KeyPair, Validity } from './issue.ts'
import { keyMatchesCertificate, isSignedBy, type ReadCertificate, readCertificate } from './serving.ts'

const day = 86_400_000

/** Milliseconds. A CA is replaced when a third of its life is left, a leaf at half of it: an outage of a month is harmless. */
export const lifetimes = {
  authority: 365 * day,
  leaf: 60 * day,
  /** Length of both overlaps. Trust spreads within seconds, unless the controller or the API server is down. */
  overlap: day,
  /** Certificates are valid from this much earlier, for clients whose clocks are slow. */
  backdate: 3_600_000,
} as const

/** The content of the Secret. */
export type StoredCertificates = {
  authority: KeyPair
  /** Announced, not signing yet. */
  next: KeyPair | undefined
  /** The previous signer; only its certificate. */
  previous: string | undefined
  leaf: KeyPair
}

/** What to store, serve and trust now. */
export type NextCertificates = {
  stored: StoredCertificates
  /** Whether `stored` differs from the input. */
  changed: boolean
  /** PEM: every CA to trust now. */
  caBundle: string
  leaf: KeyPair
  /** When the next step is due. */
  renewAt: Temporal.Instant
}

type LeafNeeds = { dnsNames: readonly string[]; now: Temporal.Instant }

/** Decides which certificates to keep from now on, given the stored ones; the diagram at the top of this file shows when each changes. */
export async function nextCertificates(given: StoredCertificates | undefined, { dnsNames, now }: LeafNeeds): Promise<NextCertificates> {
  const authorities = await nextAuthorities(given, now)
  const signing = readCertificate(authorities.authority.certificate)
  if (signing === undefined) throw new Error('an authority that was just made or checked cannot be read')
  const keeps = given !== undefined && isGoodLeaf(given.leaf, signing, dnsNames, now)
  const leaf = keeps ? given.leaf : await newLeaf(authorities.authority, dnsNames, validity(now, lifetimes.leaf, signing.until))
  const stored = { ...authorities, leaf }
  const trusted = [authorities.authority.certificate, authorities.next?.certificate, authorities.previous]
  return {
    stored,
    changed: JSON.stringify(stored) !== JSON.stringify(given),
    caBundle: trusted
      .filter((text) => text !== undefined)
      .map((text) => `${text.trim()}\n`)
      .join(''),
    leaf,
    renewAt: earliest([...authoritySteps(authorities), renewalOf(readCertificate(leaf.certificate))]) ?? now,
  }
}

type Authorities = Omit<StoredCertificates, 'leaf'>

/** At most one step each time; the next one is due at `renewAt`. */
async function nextAuthorities(given: StoredCertificates | undefined, now: Temporal.Instant): Promise<Authorities> {
  const usable = given === undefined ? undefined : usableAuthorities(given, now)
  if (usable === undefined) return { authority: await newAuthority(now), next: undefined, previous: undefined }
  const { authority, next, previous } = usable
  if (next !== undefined && now.epochMilliseconds >= promotedMs(next)) {
    return { authority: next, next: undefined, previous: authority.certificate }
  }
  const aging = now.epochMilliseconds >= replacedMs(authority)
  if (next === undefined && aging) return { authority, next: await newAuthority(now), previous }
  const forgotten = previous !== undefined && now.epochMilliseconds >= forgottenMs(authority)
  return { authority, next, previous: forgotten ? undefined : previous }
}

/** Returns the usable stored CAs, or undefined. */
function usableAuthorities({ authority, next, previous }: StoredCertificates, now: Temporal.Instant): Authorities | undefined {
  const announced = next !== undefined && isValid(next, now) ? next : undefined
  if (isValid(authority, now)) return { authority, next: announced, previous: readable(previous) }
  return announced === undefined ? undefined : { authority: announced, next: undefined, previous: undefined }
}

function isValid(pair: KeyPair, now: Temporal.Instant): boolean {
  const read = readCertificate(pair.certificate)
  return read !== undefined && isWithin(read, now) && keyMatchesCertificate(pair)
}

function readable(text: string | undefined): string | undefined {
  return text !== undefined && readCertificate(text) !== undefined ? text : undefined
}

function isGoodLeaf(pair: KeyPair, signing: ReadCertificate, dnsNames: readonly string[], now: Temporal.Instant): boolean {
  const read = readCertificate(pair.certificate)
  const expected = dnsNames.map((name) => name.toLowerCase()).toSorted()
  return (
    read !== undefined &&
    isWithin(read, now) &&
    now.epochMilliseconds < renewalOf(read).epochMilliseconds &&
    JSON.stringify(read.names.toSorted()) === JSON.stringify(expected) &&
    keyMatchesCertificate(pair) &&
    isSignedBy(read, signing)
  )
}

function isWithin({ from, until }: Validity, now: Temporal.Instant): boolean {
  return Temporal.Instant.compare(from, now) <= 0 && Temporal.Instant.compare(now, until) < 0
}

/** The times at which the CAs take their next step. */
function authoritySteps({ authority, next, previous }: Authorities): Temporal.Instant[] {
  const steps = [next === undefined ? replacedMs(authority) : promotedMs(next)]
  if (previous !== undefined) steps.push(forgottenMs(authority))
  return steps.map((ms) => Temporal.Instant.fromEpochMilliseconds(ms))
}

/** When a CA was created: certificates carry whole seconds. */
function madeMs({ certificate }: KeyPair): number {
  return (readCertificate(certificate)?.from.epochMilliseconds ?? 0) + lifetimes.backdate
}

const replacedMs = (authority: KeyPair): number => madeMs(authority) + Math.floor((lifetimes.authority * 2) / 3)
const promotedMs = (next: KeyPair): number => madeMs(next) + lifetimes.overlap
/** The present CA has signed since its own overlap ended; one more overlap later nothing signed by its predecessor is served. */
const forgottenMs = (authority: KeyPair): number => madeMs(authority) + 2 * lifetimes.overlap

function renewalOf(leaf: Validity | undefined): Temporal.Instant {
  if (leaf === undefined) return Temporal.Instant.fromEpochMilliseconds(0)
  return Temporal.Instant.fromEpochMilliseconds(Math.floor((leaf.from.epochMilliseconds + leaf.until.epochMilliseconds) / 2))
}

// The library that issues certificates takes 7 MiB (anonymous, measured) and is needed every few weeks, so it is imported only for a renewal.

async function newAuthority(now: Temporal.Instant): Promise<KeyPair> {
  const { issueAuthority } = await import('./issue.ts')
  // With the time in its name, so that two CAs are never confused.
  return await issueAuthority(`cluster-sync-operator ${now.toString({ smallestUnit: 'second' })}`, validity(now, lifetimes.authority))
}

async function newLeaf(authority: KeyPair, dnsNames: readonly string[], valid: Validity): Promise<KeyPair> {
  const { issueLeaf } = await import('./issue.ts')
  return await issueLeaf(authority, dnsNames, valid)
}

function validity(now: Temporal.Instant, lifeMs: number, atMost?: Temporal.Instant): Validity {
  const until = now.add({ milliseconds: lifeMs })
  const from = now.subtract({ milliseconds: lifetimes.backdate })
  return { from, until: atMost !== undefined && Temporal.Instant.compare(atMost, until) < 0 ? atMost : until }
}

function earliest(instants: readonly Temporal.Instant[]): Temporal.Instant | undefined {
  return instants.toSorted((a, b) => Temporal.Instant.compare(a, b))[0]
}
