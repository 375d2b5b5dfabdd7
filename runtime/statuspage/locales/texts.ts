/**
 * Localized texts of the status page. Messages of conditions and findings are not translated. Pure.
 */
import { counted } from '../../platform/text/counted.ts'
import { type FleetCounts, summaryOf } from '../../fleet/fleet-view.ts'
import type { Level } from '../../fleet/view.ts'
import type { GatewayState } from '../../reconcile/decide/gateways.ts'

export type Language = 'en' | 'de'

export type Texts = {
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
  upToDate(count: number, total: number): string
  summary(counts: FleetCounts): string
  seesNothing: string
  /** The heading of the fleet of another cluster, and its texts. */
  cluster(name: string): string
  notReadYet: string
  unreadable: string
  lastSeen(age: string): string
  clusterCut: string
  ownPage: string
  desired: string
  published: string
  repository: string
  nothingYet: string
  unknown: string
  requestedBy(who: string): string
  /** The ref of the spec whose pushes are ignored while a request is followed, and how to end that. */
  insteadOf(ref: string): string
  checkedAgo(age: string): string
  committedAgo(age: string): string
  publishedAgo(age: string): string
  /** How long a gateway has run its commit. */
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
  refused: Readonly<Record<'unidentified' | 'unavailable' | 'busy', string>>
}

const english: Texts = {
  language: 'en',
  title: 'Gateways',
  allGatewaySyncs: 'All GatewaySyncs',
  search: 'Search',
  searchHint: 'name, mode, reason …',
  show: 'Show',
  everything: 'everything',
  onlyTrouble: 'problems only',
  apply: 'Apply',
  levels: { ok: 'ready', working: 'in progress', warning: 'warning', error: 'needs action' },
  states: {
    synced: 'synced',
    pending: 'pending',
    failed: 'failed',
    blocked: 'blocked',
    drifted: 'changed locally',
    dryRun: 'dry run',
    paused: 'paused',
    missingAgent: 'no agent',
    waiting: 'waiting for its stage',
  },
  upToDate: (count, total) => `${count} of ${total} gateways run the published commit`,
  summary: summaryOf,
  seesNothing: 'You do not have permission to see GatewaySyncs in any namespace.',
  cluster: (name) => `Cluster ${name}`,
  notReadYet: 'not read yet',
  unreadable: 'The cluster cannot be read:',
  lastSeen: (age) => `last seen ${age} ago`,
  clusterCut: 'The cluster has more GatewaySyncs than are shown here.',
  ownPage: 'its status page',
  desired: 'desired',
  published: 'published',
  repository: 'repository',
  nothingYet: 'nothing yet',
  unknown: 'unknown',
  requestedBy: (who) => `requested by ${who === 'generic' ? 'webhook' : who}`,
  insteadOf: (ref) =>
    `instead of ${ref}; pushes to ${ref} are ignored until another request is made or the annotation clustersync.io/requested-ref is removed`,
  checkedAgo: (age) => `git host checked ${age} ago`,
  committedAgo: (age) => `committed ${age} ago`,
  publishedAgo: (age) => `${age} ago`,
  runningFor: (age) => `running for ${age}`,
  heldBack: (reason) => `not published (${reason})`,
  commit: 'commit',
  mode: 'mode',
  noMode: 'no mode',
  profile: 'profile',
  pod: 'pod',
  noGateway: 'No gateway follows this GatewaySync yet.',
  nothingFound: 'No matches.',
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
  stale: 'Connection lost. This page may be out of date.',
  signedOut: 'You are logged out: this page is no longer updated.',
  logInAgain: 'Log in',
  notFound: 'Page not found.',
  noLogin: 'Login is not enabled: anyone who can reach this page can read it. Nothing can be changed here.',
  refused: {
    unidentified: 'The login proxy in front of this page did not identify you. Open the page at the address of the proxy.',
    unavailable: 'Your permissions cannot be checked at the moment. Try again later.',
    busy: 'The server is busy. Try again in a moment.',
  },
}

const germanUnits: Readonly<Record<string, readonly [one: string, more: string]>> = {
  s: ['s', 's'],
  m: ['min', 'min'],
  h: ['h', 'h'],
  d: ['Tag', 'Tagen'],
}

/** Translates a duration written by `ageOf`, such as "2d" to "2 Tagen"; returns other text unchanged. */
export function inGerman(duration: string): string {
  const [, count = '', unit = ''] = /^(\d+)([smhd])$/.exec(duration) ?? []
  const words = germanUnits[unit]
  return words === undefined ? duration : `${count} ${words[count === '1' ? 0 : 1]}`
}

/** Translates an age written by `ageOf`. */
export function ageIn(language: Language, age: string): string {
  return language === 'de' ? inGerman(age) : age
}

const german: Texts = {
  language: 'de',
  title: 'Gateways',
  allGatewaySyncs: 'Alle GatewaySyncs',
  search: 'Suchen',
  searchHint: 'Name, Modus, Grund …',
  show: 'Anzeigen',
  everything: 'alles',
  onlyTrouble: 'nur Auffälliges',
  apply: 'Anwenden',
  levels: { ok: 'in Ordnung', working: 'in Arbeit', warning: 'Warnung', error: 'Handlungsbedarf' },
  states: {
    synced: 'aktuell',
    pending: 'wartet',
    failed: 'fehlgeschlagen',
    blocked: 'blockiert',
    drifted: 'lokal geändert',
    dryRun: 'Probelauf',
    paused: 'pausiert',
    missingAgent: 'ohne Agenten',
    waiting: 'wartet auf seine Stufe',
  },
  upToDate: (count, total) => `${count} von ${total} Gateways haben den veröffentlichten Commit`,
  summary({ syncs, ready, gateways, upToDate }) {
    if (syncs === 0) return 'Es gibt keinen GatewaySync.'
    const follow = gateways === 0 ? 'noch kein Gateway ist zugeordnet' : german.upToDate(upToDate, gateways)
    return `${ready} von ${syncs} ${syncs === 1 ? 'GatewaySync ist' : 'GatewaySyncs sind'} bereit; ${follow}.`
  },
  seesNothing: 'Sie dürfen in keinem Namespace GatewaySyncs sehen.',
  cluster: (name) => `Cluster ${name}`,
  notReadYet: 'noch nicht gelesen',
  unreadable: 'Der Cluster ist nicht lesbar:',
  lastSeen: (age) => `zuletzt gesehen vor ${inGerman(age)}`,
  clusterCut: 'Der Cluster hat mehr GatewaySyncs, als hier gezeigt werden.',
  ownPage: 'seine Statusseite',
  desired: 'gewünscht',
  published: 'veröffentlicht',
  repository: 'Repository',
  nothingYet: 'noch nichts',
  unknown: 'unbekannt',
  requestedBy: (who) => (who === 'generic' ? 'angefordert per Webhook' : `angefordert von ${who}`),
  insteadOf: (ref) =>
    `statt ${ref}, dessen Pushes ignoriert werden, bis eine andere Anfrage folgt oder die Annotation clustersync.io/requested-ref entfernt wird`,
  checkedAgo: (age) => `Git-Server zuletzt vor ${inGerman(age)} abgefragt`,
  committedAgo: (age) => `Commit vor ${inGerman(age)}`,
  publishedAgo: (age) => `vor ${inGerman(age)}`,
  runningFor: (age) => `läuft seit ${inGerman(age)}`,
  heldBack: (reason) => `nicht veröffentlicht (${reason})`,
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
  requests: 'Anfragen',
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
    unidentified: 'Die Anmeldung vor dieser Seite weist Sie nicht aus. Öffnen Sie die Seite über die Adresse der Anmeldung.',
    unavailable: 'Zurzeit lässt sich nicht feststellen, was Sie sehen dürfen. Versuchen Sie es später noch einmal.',
    busy: 'Der Server ist ausgelastet. Versuchen Sie es gleich noch einmal.',
  },
}

/** Selects the language from `Accept-Language`; English if no supported language is listed. */
export function acceptedTexts(acceptLanguage: string | undefined): Texts {
  const named = (acceptLanguage ?? '').split(',').map((part) => {
    const [tag = '', ...parameters] = part.trim().toLowerCase().split(';')
    const quality = parameters.map((one) => /^\s*q=([0-9.]+)\s*$/.exec(one)?.[1]).find((one) => one !== undefined)
    return { language: tag.split('-')[0], quality: quality === undefined ? 1 : Number(quality) }
  })
  const qualityOf = (language: Language): number =>
    Math.max(0, ...named.filter((one) => one.language === language).map((one) => one.quality))
  return qualityOf('de') > qualityOf('en') ? german : english
}
