/**
 * The words of the status page in the languages of plants. What the product itself says, a condition's message or a finding, stays as it is.
 * Pure.
 */
import { counted } from '../counted.ts'
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
  wanted: string
  published: string
  repository: string
  nothingYet: string
  unknown: string
  requestedBy(who: string): string
  askedAgo(age: string): string
  committedAgo(age: string): string
  publishedAgo(age: string): string
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
}

const english: Words = {
  language: 'en',
  title: 'Gateways',
  allGatewaySyncs: 'All GatewaySyncs',
  search: 'Search',
  searchHint: 'gateway, pod, mode, namespace …',
  show: 'Show',
  everything: 'everything',
  onlyTrouble: 'what is not in order',
  apply: 'Apply',
  levels: { ok: 'in order', working: 'under way', warning: 'worth knowing', error: 'needs somebody' },
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
  wanted: 'wanted',
  published: 'published',
  repository: 'repository',
  nothingYet: 'nothing yet',
  unknown: 'not known',
  requestedBy: (who) => `requested by ${who}`,
  askedAgo: (age) => `asked ${age} ago`,
  committedAgo: (age) => `committed ${age} ago`,
  publishedAgo: (age) => `${age} ago`,
  heldBack: (reason) => `held back (${reason})`,
  commit: 'commit',
  mode: 'mode',
  noMode: 'no mode',
  profile: 'profile',
  pod: 'pod',
  noGateway: 'No gateway follows it yet.',
  nothingFound: 'Nothing matches.',
  whatToDo: 'What to do',
  findings: 'Findings',
  countOf: (errors, warnings) => `${counted(errors, 'error')}, ${counted(warnings, 'warning')}`,
  requests: 'Requests',
  more: (count) => `and ${count} more`,
  page: (number, of) => `page ${number} of ${of}`,
  pages: 'Pages',
  previous: 'previous page',
  next: 'next page',
  stateOf: (at) => `as of ${at}`,
  stale: 'The connection is lost. This may be out of date.',
  signedOut: 'You are logged out: what you see here is no longer kept up to date.',
  logInAgain: 'Log in',
  notFound: 'There is no such page.',
  noLogin: 'There is no login: whoever reaches this page sees all of it. It only shows.',
}

const german: Words = {
  language: 'de',
  title: 'Gateways',
  allGatewaySyncs: 'Alle GatewaySyncs',
  search: 'Suchen',
  searchHint: 'Gateway, Pod, Modus, Namespace …',
  show: 'Zeigen',
  everything: 'alles',
  onlyTrouble: 'was nicht in Ordnung ist',
  apply: 'Anwenden',
  levels: { ok: 'in Ordnung', working: 'in Arbeit', warning: 'zu beachten', error: 'jemand muss handeln' },
  states: {
    synced: 'auf Stand',
    pending: 'wartet',
    failed: 'fehlgeschlagen',
    blocked: 'angehalten',
    drifted: 'vor Ort geändert',
    dryRun: 'Probelauf',
    paused: 'pausiert',
    missingAgent: 'ohne Agent',
    waiting: 'wartet auf seine Stufe',
  },
  inStep: (count, total) => `${count} von ${total} Gateways haben den veröffentlichten Commit`,
  wanted: 'gewünscht',
  published: 'veröffentlicht',
  repository: 'Repository',
  nothingYet: 'noch nichts',
  unknown: 'nicht bekannt',
  requestedBy: (who) => `angefordert von ${who}`,
  askedAgo: (age) => `vor ${age} gefragt`,
  committedAgo: (age) => `Commit vor ${age}`,
  publishedAgo: (age) => `vor ${age}`,
  heldBack: (reason) => `zurückgehalten (${reason})`,
  commit: 'Commit',
  mode: 'Modus',
  noMode: 'ohne Modus',
  profile: 'Profil',
  pod: 'Pod',
  noGateway: 'Noch folgt ihm kein Gateway.',
  nothingFound: 'Nichts passt dazu.',
  whatToDo: 'Was zu tun ist',
  findings: 'Befunde',
  countOf: (errors, warnings) => `${errors} Fehler, ${warnings} ${warnings === 1 ? 'Warnung' : 'Warnungen'}`,
  requests: 'Anforderungen',
  more: (count) => `und ${count} weitere`,
  page: (number, of) => `Seite ${number} von ${of}`,
  pages: 'Seiten',
  previous: 'vorige Seite',
  next: 'nächste Seite',
  stateOf: (at) => `Stand ${at}`,
  stale: 'Die Verbindung ist abgebrochen. Dies kann veraltet sein.',
  signedOut: 'Sie sind abgemeldet: Was Sie hier sehen, wird nicht mehr aktualisiert.',
  logInAgain: 'Anmelden',
  notFound: 'Diese Seite gibt es nicht.',
  noLogin: 'Es gibt keine Anmeldung: Wer diese Seite erreicht, sieht alles. Sie zeigt nur an.',
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
