/**
 * The words of the pages of one GatewaySync, one commit and one gateway, in the languages of plants. Pure.
 */
import type { DriftPolicy, Notice } from '../fleet/sync-detail.ts'
import type { Warning } from '../fleet/facts.ts'
import type { Language } from './words.ts'

export type DetailWords = {
  state: string
  versions: string
  changes: string
  outcomes: Readonly<Record<'Published' | 'Refused' | 'Superseded' | 'Handled', string>>
  isPublished: string
  runIt(count: number): string
  by(who: string): string
  signedBy(key: string): string
  took(seconds: string): string
  polled(interval: string): string
  notPolled: string
  nextLook(time: string): string
  rollout: string
  rolledOut(updated: number, of: number): string
  failed(count: number): string
  held(count: number): string
  approvedBy(who: string): string
  localChanges: string
  localFiles(count: number): string
  becomes: Readonly<Record<DriftPolicy | 'unknown', string>>
  designers: string
  notices: Readonly<Record<Notice['kind'], (gateways: string) => string>>
  all: string
  gateways(count: number): string
  warnings: Readonly<Record<Warning['kind'], (until: string) => string>>
  commitChanged: string
  comparedWith: string
  filesChanged(count: number): string
  ops: Readonly<Record<'add' | 'change' | 'remove', string>>
  notShown: string
  linesHidden: string
  nothingBefore: string
  noFiles: string
  cannotRead(why: string): string
  gateway: string
  agent: string
  lastSync: string
  files: string
  fileCounts(added: number, changed: number, removed: number, unchanged: number): string
  scanned: string
  complaints: string
  projects: string
  dryRun: string
  lastSyncs: string
  inPart: string
}

const many = (count: number, one: string, more: string): string => `${count} ${count === 1 ? one : more}`

const english: DetailWords = {
  state: 'State',
  versions: 'Versions',
  changes: 'Last changes',
  outcomes: { Published: 'published', Refused: 'refused', Superseded: 'overtaken', Handled: 'done' },
  isPublished: 'published now',
  runIt: (count) => `${many(count, 'gateway runs', 'gateways run')} it`,
  by: (who) => `asked for by ${who}`,
  signedBy: (key) => `signed by ${key}`,
  took: (seconds) => `took ${seconds} s`,
  polled: (interval) => `asked again every ${interval}, and at each push`,
  notPolled: 'asked again at each push',
  nextLook: (time) => `next in about ${time}`,
  rollout: 'Rollout',
  rolledOut: (updated, of) => `${updated} of ${of} run it`,
  failed: (count) => `${count} failed`,
  held: (count) => `${count} held by local changes`,
  approvedBy: (who) => `approved by ${who}`,
  localChanges: 'Changed on gateways',
  localFiles: (count) => many(count, 'file', 'files'),
  becomes: {
    report: 'The next commit that changes one of these files overwrites it.',
    restore: 'They are put back at the next look.',
    hold: 'They are kept: a commit that would undo them waits.',
    unknown: 'What becomes of them is not known.',
  },
  designers: 'Open Designers',
  notices: {
    paused: (gateways) => `Paused: nothing is written to ${gateways}.`,
    dryRun: (gateways) => `Dry run: what a sync would do is only told, on ${gateways}.`,
    outdatedAgents: (gateways) => `The agent is too old for what is asked for, on ${gateways}: recreate the pods.`,
    otherVersion: (gateways) => `The agent has another version than the controller, on ${gateways}.`,
  },
  all: 'all gateways',
  gateways: (count) => many(count, 'gateway', 'gateways'),
  warnings: {
    openReceiver: () => 'The push receiver asks for no proof: whoever reaches it may ask for a sync.',
    certificate: (until) => `The certificate of the controller ends on ${until} and has not been renewed.`,
  },
  commitChanged: 'What this commit changed',
  comparedWith: 'compared with',
  filesChanged: (count) => many(count, 'file differs', 'files differ'),
  ops: { add: 'new', change: 'changed', remove: 'deleted' },
  notShown: 'Its lines are not shown: it is large, binary, or may hold a secret.',
  linesHidden: 'Lines of files are shown behind a login only.',
  nothingBefore: 'No commit before it is known, with which it could be compared.',
  noFiles: 'No file that gateways are given is different.',
  cannotRead: (why) => `What it changed cannot be read now: ${why}`,
  gateway: 'Gateway',
  agent: 'agent',
  lastSync: 'last sync',
  files: 'files',
  fileCounts: (added, changed, removed, unchanged) => `${added} new, ${changed} changed, ${removed} deleted, ${unchanged} as they were`,
  scanned: 'read by the gateway',
  complaints: 'What the gateway complains of',
  projects: 'projects',
  dryRun: 'What a sync would do',
  lastSyncs: 'Last syncs',
  inPart: 'Its report cannot be read now: this is what is kept of it.',
}

const german: DetailWords = {
  state: 'Zustand',
  versions: 'Versionen',
  changes: 'Letzte Änderungen',
  outcomes: { Published: 'veröffentlicht', Refused: 'abgelehnt', Superseded: 'überholt', Handled: 'erledigt' },
  isPublished: 'jetzt veröffentlicht',
  runIt: (count) => `auf ${many(count, 'Gateway', 'Gateways')}`,
  by: (who) => `angefordert von ${who}`,
  signedBy: (key) => `signiert mit ${key}`,
  took: (seconds) => `in ${seconds.replace('.', ',')} s`,
  polled: (interval) => `wieder gefragt alle ${interval} und bei jedem Push`,
  notPolled: 'wieder gefragt bei jedem Push',
  nextLook: (time) => `als Nächstes in etwa ${time}`,
  rollout: 'Stufenweise Verteilung',
  rolledOut: (updated, of) => `${updated} von ${of} haben ihn`,
  failed: (count) => `${count} fehlgeschlagen`,
  held: (count) => `${count} warten wegen Änderungen vor Ort`,
  approvedBy: (who) => `freigegeben von ${who}`,
  localChanges: 'Vor Ort geändert',
  localFiles: (count) => many(count, 'Datei', 'Dateien'),
  becomes: {
    report: 'Der nächste Commit, der eine dieser Dateien ändert, überschreibt sie.',
    restore: 'Sie werden beim nächsten Prüfen zurückgesetzt.',
    hold: 'Sie bleiben: Ein Commit, der sie rückgängig machte, wartet.',
    unknown: 'Was aus ihnen wird, ist nicht bekannt.',
  },
  designers: 'Offene Designer',
  notices: {
    paused: (gateways) => `Pausiert: Auf ${gateways} wird nichts geschrieben.`,
    dryRun: (gateways) => `Probelauf auf ${gateways}: Es wird nur gezeigt, was geschähe.`,
    outdatedAgents: (gateways) => `Der Agent ist zu alt für das Verlangte, auf ${gateways}: Pods neu erzeugen.`,
    otherVersion: (gateways) => `Der Agent hat eine andere Version als der Controller, auf ${gateways}.`,
  },
  all: 'allen Gateways',
  gateways: (count) => many(count, 'Gateway', 'Gateways'),
  warnings: {
    openReceiver: () => 'Der Push-Empfänger verlangt keinen Nachweis: Wer ihn erreicht, kann eine Synchronisierung anfordern.',
    certificate: (until) => `Das Zertifikat des Controllers endet am ${until} und wurde nicht erneuert.`,
  },
  commitChanged: 'Was dieser Commit geändert hat',
  comparedWith: 'verglichen mit',
  filesChanged: (count) => many(count, 'Datei ist anders', 'Dateien sind anders'),
  ops: { add: 'neu', change: 'geändert', remove: 'gelöscht' },
  notShown: 'Ihre Zeilen werden nicht gezeigt: Sie ist groß, binär oder kann ein Geheimnis enthalten.',
  linesHidden: 'Zeilen von Dateien werden nur hinter einer Anmeldung gezeigt.',
  nothingBefore: 'Kein früherer Commit ist bekannt, mit dem er verglichen werden könnte.',
  noFiles: 'Keine Datei, die Gateways erhalten, ist anders.',
  cannotRead: (why) => `Was er geändert hat, ist jetzt nicht zu lesen: ${why}`,
  gateway: 'Gateway',
  agent: 'Agent',
  lastSync: 'letzte Synchronisierung',
  files: 'Dateien',
  fileCounts: (added, changed, removed, unchanged) => `${added} neu, ${changed} geändert, ${removed} gelöscht, ${unchanged} wie zuvor`,
  scanned: 'vom Gateway gelesen',
  complaints: 'Was das Gateway beanstandet',
  projects: 'Projekte',
  dryRun: 'Was eine Synchronisierung täte',
  lastSyncs: 'Letzte Synchronisierungen',
  inPart: 'Sein Bericht ist jetzt nicht zu lesen: Dies ist, was davon aufbewahrt wird.',
}

export function detailWordsIn(language: Language): DetailWords {
  return language === 'de' ? german : english
}
