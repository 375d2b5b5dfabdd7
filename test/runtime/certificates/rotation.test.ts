import { X509Certificate } from 'node:crypto'
import t from 'tap'
import { lifetimes, type NextCertificates, nextCertificates, type StoredCertificates } from '../../../runtime/certificates/rotation.ts'
import { fromSecretData, type SecretData, toSecretData } from '../../../runtime/certificates/self-managed.ts'
import { Temporal } from '../../../runtime/platform/temporal.ts'
import { handshake } from '../../support/tls.ts'

const dnsNames = ['cso-webhook.operator.svc', 'cso-delivery.operator.svc', 'localhost', '127.0.0.1']
// TLS handshakes use the machine's clock, so the timeline starts now, in whole seconds as in certificates.
const start = Temporal.Instant.fromEpochMilliseconds(Math.floor(Temporal.Now.instant().epochMilliseconds / 1000) * 1000)
const after = (ms: number): Temporal.Instant => start.add({ milliseconds: ms })
const day = 86_400_000

async function at(given: StoredCertificates | undefined, now: Temporal.Instant, names = dnsNames): Promise<NextCertificates> {
  return await nextCertificates(given, { dnsNames: names, now })
}

function bundled(text: string): string[] {
  return (text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map((pem) => new X509Certificate(pem).subject)
}

void t.test('without stored certificates one CA and a leaf for every name are created', async (t) => {
  const { stored, changed, caBundle, leaf, renewAt } = await at(undefined, start)
  t.equal(changed, true)
  t.equal(bundled(caBundle).length, 1)
  const certificate = new X509Certificate(leaf.certificate)
  for (const name of dnsNames.slice(0, 3)) t.equal(certificate.checkHost(name), name)
  t.equal(certificate.checkIP('127.0.0.1'), '127.0.0.1')
  t.equal(certificate.ca, false)
  t.equal(new X509Certificate(stored.authority.certificate).ca, true)
  t.ok(Temporal.Instant.compare(renewAt, start) > 0)
})

void t.test('nothing changes before renewal is due', async (t) => {
  const first = await at(undefined, start)
  const again = await at(first.stored, first.renewAt.subtract({ seconds: 1 }))
  t.equal(again.changed, false)
  t.strictSame(again.stored, first.stored)
  t.equal(again.renewAt.toString(), first.renewAt.toString())
})

void t.test('a leaf is renewed by the same CA at half of its lifetime', async (t) => {
  const first = await at(undefined, start)
  const next = await at(first.stored, first.renewAt)
  t.equal(next.changed, true)
  t.not(next.leaf.certificate, first.leaf.certificate)
  t.equal(next.caBundle, first.caBundle)
})

void t.test('changed names need a new leaf, reordered names do not', async (t) => {
  const first = await at(undefined, start)
  t.equal((await at(first.stored, start, dnsNames.toReversed())).changed, false)
  const renamed = await at(first.stored, start, ['other.svc'])
  t.equal(new X509Certificate(renamed.leaf.certificate).checkHost('other.svc'), 'other.svc')
  t.equal(renamed.caBundle, first.caBundle)
})

void t.test('a certificate or key that cannot be used is replaced', async (t) => {
  const good = (await at(undefined, start)).stored
  const other = (await at(undefined, start)).stored
  const cases: [string, StoredCertificates, boolean][] = [
    ['a leaf that is no certificate', { ...good, leaf: { certificate: 'x', key: 'y' } }, true],
    ["a leaf with another's key", { ...good, leaf: { ...good.leaf, key: other.leaf.key } }, true],
    ['a leaf of another authority', { ...good, leaf: other.leaf }, true],
    ['an authority that is no certificate', { ...good, authority: { certificate: 'x', key: 'y' } }, false],
    ["an authority with another's key", { ...good, authority: { ...good.authority, key: other.authority.key } }, false],
  ]
  for (const [name, stored, keepsAuthority] of cases) {
    const next = await at(stored, start)
    t.equal(next.changed, true, name)
    t.equal(next.stored.authority.certificate === good.authority.certificate, keepsAuthority, name)
    t.equal((await at(next.stored, start)).changed, false, `${name}: settled`)
  }
})

void t.test('an expired CA and leaf are replaced by a new CA and leaf', async (t) => {
  const first = await at(undefined, start)
  const late = await at(first.stored, after(2 * lifetimes.authority))
  t.equal(bundled(late.caBundle).length, 1)
  t.not(late.caBundle, first.caBundle)
})

/** Moves from one due renewal to the next and collects the result of each. */
async function walk(until: Temporal.Instant): Promise<{ at: Temporal.Instant; step: NextCertificates }[]> {
  let step = await at(undefined, start)
  const steps = [{ at: start, step }]
  while (Temporal.Instant.compare(step.renewAt, until) < 0) {
    const now: Temporal.Instant = step.renewAt
    step = await at(step.stored, now)
    steps.push({ at: now, step })
  }
  return steps
}

void t.test('a CA is announced, signs a day later, and its predecessor is removed another day later', async (t) => {
  const steps = await walk(after(lifetimes.authority))
  const trusted = steps.map(({ at, step }) => [Math.round(at.since(start).total('days')), bundled(step.caBundle).length])
  const changes = trusted.filter(([, count], index) => count !== trusted[index - 1]?.[1])
  t.strictSame(changes, [
    [0, 1],
    [243, 2],
    [245, 1],
  ])
  const [announced, promoted] = [243, 244].map((days) => steps.find(({ at }) => Math.round(at.since(start).total('days')) === days)?.step)
  t.equal(promoted?.stored.authority.certificate, announced?.stored.next?.certificate)
  t.strictSame(bundled(promoted?.caBundle ?? ''), bundled(announced?.caBundle ?? '').toReversed())
  t.ok(
    steps.every(({ step }) => step.changed),
    'no step is taken for nothing',
  )
})

void t.test('each leaf is trusted by a client that has the CA bundle of the step before or after', async (t) => {
  const steps = await walk(after(lifetimes.authority * 2))
  t.ok(steps.length > 20)
  for (const [index, { at, step }] of steps.entries()) {
    const leaf = new X509Certificate(step.leaf.certificate)
    const before = steps[index - 1]?.step
    const following = steps[index + 1]?.step
    t.ok(isTrusted(leaf, step.caBundle), `${at.toString()}: now`)
    if (before !== undefined) t.ok(isTrusted(leaf, before.caBundle), `${at.toString()}: a client that has not heard yet`)
    if (following !== undefined) t.ok(isTrusted(leaf, following.caBundle), `${at.toString()}: a server that has not renewed yet`)
  }
})

function isTrusted(leaf: X509Certificate, bundle: string): boolean {
  const authorities = (bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? []).map(
    (pem) => new X509Certificate(pem),
  )
  return authorities.some((authority) => leaf.checkIssued(authority) && leaf.verify(authority.publicKey))
}

void t.test('in real handshakes both CAs of an overlap are trusted with the bundles before and after', async (t) => {
  // The rotation started in the past, so that it ends now and every certificate is valid today.
  const made = after(-(lifetimes.authority * 2) / 3)
  const old = await at(undefined, made)
  const announced = await at(old.stored, start)
  const promoted = await at(announced.stored, after(lifetimes.overlap))
  t.equal(bundled(announced.caBundle).length, 2)
  t.not(promoted.stored.authority.certificate, announced.stored.authority.certificate)
  const outcomes = {
    'old leaf, bundle of the announcement': await handshake(announced.leaf, announced.caBundle),
    'old leaf, bundle after the promotion': await handshake(announced.leaf, promoted.caBundle),
    'old leaf, bundle of the beginning': await handshake(announced.leaf, old.caBundle),
  }
  t.strictSame(outcomes, {
    'old leaf, bundle of the announcement': 'trusted',
    'old leaf, bundle after the promotion': 'trusted',
    'old leaf, bundle of the beginning': 'trusted',
  })
  // A certificate signed tomorrow is not valid today, because back-dating covers less than a day: promote a CA that was announced
  // yesterday.
  const yesterday = await at((await at(undefined, after(-(lifetimes.authority * 2) / 3 - day))).stored, after(-day))
  const today = await at(yesterday.stored, start)
  t.not(today.stored.authority.certificate, yesterday.stored.authority.certificate)
  t.equal(await handshake(today.leaf, yesterday.caBundle), 'trusted', 'new leaf, bundle of the announcement')
  t.equal(await handshake(yesterday.leaf, today.caBundle), 'trusted', 'old leaf, bundle after the promotion')
  t.not(await handshake(today.leaf, old.caBundle), 'trusted', 'an authority that never was ours')
})

void t.test('a Secret stores all certificates and clears the ones that are no longer needed', async (t) => {
  const { stored, caBundle } = await at(undefined, start)
  const full: StoredCertificates = { ...stored, next: stored.authority, previous: stored.authority.certificate }
  const merged = (patch: Record<string, string | null>): SecretData =>
    Object.fromEntries(Object.entries(patch).filter((entry): entry is [string, string] => entry[1] !== null))
  t.strictSame(fromSecretData(merged(toSecretData(full, caBundle))), full)
  t.strictSame(fromSecretData(merged(toSecretData(stored, caBundle))), stored)
  t.strictSame(
    Object.entries(toSecretData(stored, caBundle))
      .filter(([, value]) => value === null)
      .map(([key]) => key),
    ['next-authority.crt', 'next-authority.key', 'previous-authority.crt'],
  )
  t.equal(fromSecretData(undefined), undefined)
  t.equal(fromSecretData({ 'tls.crt': '', 'tls.key': '' }), undefined)
})
