/**
 * The words of the status page in the languages of plants. What the product itself says, a condition's message or a finding, stays as it is.
 * Pure.
 */
import { counted } from '../counted.ts'
import { type FleetCounts, summaryOf } from '../fleet/fleet-view.ts'
import type { GatewayState } from '../gatewaysync/decide/gateways.ts'
import type { Level } from '../fleet/level.ts'

export type Language = 'en' | 'de'

export type Words = {
  language: Language
  title: string
  allGatewaySyncs: string
  search: string
  searchHint: string
  show: string
  everything: string
  onlyTrouble: string
  apply: string
  levels: Readonly<Record<Level, string>>
  states: Readonly<Record<GatewayState, string>>
  inStep(count: number, total: number): string
  summary(counts: FleetCounts): string
  seesNothing: string
  wanted: string
  published: string
  repository: string
  nothingYet: string
  unknown: string
  requestedBy(who: string): string
  askedAgo(age: string): string
  committedAgo(age: string): string
  publishedAgo(age: string): string
  /** How long a gateway runs its commit. */
  runningFor(age: string): string
  heldBack(reason: string): string
  commit: string
  mode: string
  noMode: string
  profile: string
  pod: string
  noGateway: string
  nothingFound: string
  whatToDo: string
  findings: string
  countOf(errors: number, warnings: number): string
  severities: Readonly<Record<'error' | 'warning', string>>
  requests: string
  more(count: number): string
  page(number: number, of: number): string
  pages: string
  previous: string
  next: string
  stateOf(at: string): string
  stale: string
  signedOut: string
  logInAgain: string
  notFound: string
  noLogin: string
  refused: Readonly<Record<'nobody' | 'away' | 'busy', string>>
}

const english: Words = {
  language: 'en',
  title: 'Gateways',
  allGatewaySyncs: 'All GatewaySyncs',
  search: 'Search',
  searchHint: 'name, mode, reason …',
  show: 'Show',
  everything: 'everything',
  onlyTrouble: 'only what is not in order',
  apply: 'Apply',
  levels: { ok: 'in order', working: 'in progress', warning: 'note', error: 'needs action' },
  states: {
    synced: 'synced',
    pending: 'pending',
    failed: 'failed',
    blocked: 'blocked',
    drifted: 'changed locally',
    dryRun: 'dry run',
    paused: 'paused',
    missingAgent: 'no agent',
    waiting: 'waits for its stage',
  },
  inStep: (count, total) => `${count} of ${total} gateways run the published commit`,
  summary: summaryOf,
  seesNothing: 'You may see the GatewaySyncs of no namespace that has one.',
  wanted: 'wanted',
  published: 'published',
  repository: 'repository',
  nothingYet: 'nothing yet',
  unknown: 'not known',
  requestedBy: (who) => `requested by ${who}`,
  askedAgo: (age) => `git host asked ${age} ago`,
  committedAgo: (age) => `committed ${age} ago`,
  publishedAgo: (age) => `${age} ago`,
  runningFor: (age) => `running for ${age}`,
  heldBack: (reason) => `held back (${reason})`,
  commit: 'commit',
  mode: 'mode',
  noMode: 'no mode',
  profile: 'profile',
  pod: 'pod',
  noGateway: 'No gateway follows this GatewaySync yet.',
  nothingFound: 'Nothing matches.',
  whatToDo: 'What to do',
  findings: 'Findings',
  countOf: (errors, warnings) => `${counted(errors, 'error')}, ${counted(warnings, 'warning')}`,
  severities: { error: 'error', warning: 'warning' },
  requests: 'Requests',
  more: (count) => `and ${count} more`,
  page: (number, of) => `page ${number} of ${of}`,
  pages: 'Pages',
  previous: 'previous page',
  next: 'next page',
  stateOf: (at) => `as of ${at}`,
  stale: 'The connection is lost. What you see may be out of date.',
  signedOut: 'You are logged out: what you see here is no longer kept up to date.',
  logInAgain: 'Log in',
  notFound: 'There is no such page.',
  noLogin: 'There is no login: whoever reaches this page sees all of it. Nothing can be changed here.',
  refused: {
    nobody: 'The login in front of this page does not say who you are. Open the page by the address that leads through that login.',
    away: 'It cannot be found out at present what you may see. Try again later.',
    busy: 'Too many answers are waiting to be read. Try again in a moment.',
  },
}

const germanUnits: Readonly<Record<string, readonly [one: string, more: string]>> = {
  s: ['s', 's'],
  m: ['min', 'min'],
  h: ['h', 'h'],
  d: ['Tag', 'Tagen'],
}

/** An age or interval as `ageOf` writes it, "2d" as "2 Tagen"; anything else as it is. */
export function inGerman(duration: string): string {
  const [, count = '', unit = ''] = /^(\d+)([smhd])$/.exec(duration) ?? []
  const words = germanUnits[unit]
  return words === undefined ? duration : `${count} ${words[count === '1' ? 0 : 1]}`
}

/** An age as `ageOf` writes it, in a language of the page. */
export function ageIn(language: Language, age: string): string {
  return language === 'de' ? inGerman(age) : age
}

const german: Words = {
  language: 'de',
  title: 'Gateways',
  allGatewaySyncs: 'Alle GatewaySyncs',
  search: 'Suchen',
  searchHint: 'Name, Modus, Grund …',
  show: 'Anzeigen',
  everything: 'alles',
  onlyTrouble: 'nur Auffälliges',
  apply: 'Anwenden',
  levels: { ok: 'in Ordnung', working: 'in Arbeit', warning: 'Hinweis', error: 'Handlungsbedarf' },
  states: {
    synced: 'aktuell',
    pending: 'wartet',
    failed: 'fehlgeschlagen',
    blocked: 'blockiert',
    drifted: 'vor Ort geändert',
    dryRun: 'Probelauf',
    paused: 'pausiert',
    missingAgent: 'ohne Agent',
    waiting: 'wartet auf seine Stufe',
  },
  inStep: (count, total) => `${count} von ${total} Gateways haben den veröffentlichten Commit`,
  summary({ syncs, ready, gateways, inStep }) {
    if (syncs === 0) return 'Es gibt keinen GatewaySync.'
    const follow = gateways === 0 ? 'noch kein Gateway ist zugeordnet' : german.inStep(inStep, gateways)
    return `${ready} von ${syncs} ${syncs === 1 ? 'GatewaySync ist' : 'GatewaySyncs sind'} bereit; ${follow}.`
  },
  seesNothing: 'Sie dürfen die GatewaySyncs keines der Namespaces sehen, die einen haben.',
  wanted: 'gewünscht',
  published: 'veröffentlicht',
  repository: 'Repository',
  nothingYet: 'noch nichts',
  unknown: 'unbekannt',
  requestedBy: (who) => `angefordert von ${who}`,
  askedAgo: (age) => `Git-Server zuletzt vor ${inGerman(age)} abgefragt`,
  committedAgo: (age) => `Commit vor ${inGerman(age)}`,
  publishedAgo: (age) => `vor ${inGerman(age)}`,
  runningFor: (age) => `läuft seit ${inGerman(age)}`,
  heldBack: (reason) => `zurückgehalten (${reason})`,
  commit: 'Commit',
  mode: 'Modus',
  noMode: 'ohne Modus',
  profile: 'Profil',
  pod: 'Pod',
  noGateway: 'Diesem GatewaySync ist noch kein Gateway zugeordnet.',
  nothingFound: 'Keine Treffer.',
  whatToDo: 'Was zu tun ist',
  findings: 'Befunde',
  countOf: (errors, warnings) => `${errors} Fehler, ${warnings} ${warnings === 1 ? 'Warnung' : 'Warnungen'}`,
  severities: { error: 'Fehler', warning: 'Warnung' },
  requests: 'Anforderungen',
  more: (count) => `und ${count} weitere`,
  page: (number, of) => `Seite ${number} von ${of}`,
  pages: 'Seiten',
  previous: 'vorige Seite',
  next: 'nächste Seite',
  stateOf: (at) => `Stand ${at}`,
  stale: 'Die Verbindung ist unterbrochen. Die Anzeige kann veraltet sein.',
  signedOut: 'Sie sind abgemeldet: Was Sie hier sehen, wird nicht mehr aktualisiert.',
  logInAgain: 'Anmelden',
  notFound: 'Diese Seite gibt es nicht.',
  noLogin: 'Es gibt keine Anmeldung: Wer diese Seite erreicht, sieht alles. Ändern lässt sich hier nichts.',
  refused: {
    nobody:
      'Die Anmeldung vor dieser Seite sagt nicht, wer Sie sind. Öffnen Sie die Seite unter der Adresse, die über die Anmeldung führt.',
    away: 'Zurzeit lässt sich nicht feststellen, was Sie sehen dürfen. Versuchen Sie es später noch einmal.',
    busy: 'Zu viele Antworten warten darauf, gelesen zu werden. Versuchen Sie es gleich noch einmal.',
  },
}

/** By what a browser says that its user reads (`Accept-Language`); English where neither is named. */
export function wordsFor(acceptLanguage: string | undefined): Words {
  const named = (acceptLanguage ?? '').split(',').map((part) => {
    const [tag = '', ...parameters] = part.trim().toLowerCase().split(';')
    const quality = parameters.map((one) => /^\s*q=([0-9.]+)\s*$/.exec(one)?.[1]).find((one) => one !== undefined)
    return { language: tag.split('-')[0], quality: quality === undefined ? 1 : Number(quality) }
  })
  const qualityOf = (language: Language): number =>
    Math.max(0, ...named.filter((one) => one.language === language).map((one) => one.quality))
  return qualityOf('de') > qualityOf('en') ? german : english
}
