/**
 * Localized texts of the pages of a GatewaySync, a commit and a gateway. Pure.
 */
import type { DriftPolicy, Notice } from '../../fleet/sync-detail.ts'
import type { Warning } from '../../fleet/facts.ts'
import { inGerman, type Language } from './texts.ts'

export type DetailTexts = {
  state: string
  versions: string
  changes: string
  outcomes: Readonly<Record<'Published' | 'Refused' | 'Superseded' | 'Handled' | 'Pending', string>>
  isPublished: string
  runIt(count: number): string
  by(who: string): string
  signedBy(key: string): string
  took(seconds: string): string
  /** `interval` undefined: not polled. */
  polled(interval: string | undefined, onPush: boolean): string
  nextPoll(time: string): string
  rollout: string
  rolledOut(updated: number, of: number): string
  failed(count: number): string
  silent(count: number): string
  held(count: number): string
  approvedBy(who: string): string
  localChanges: string
  localFiles(count: number): string
  newFiles: string
  becomes: Readonly<Record<DriftPolicy | 'unknown', string>>
  designers: string
  /** `count` is the number of affected gateways; undefined: all. */
  notices: Readonly<Record<Notice['kind'], (count: number | undefined) => string>>
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
  taken: string
}

const many = (count: number, one: string, more: string): string => `${count} ${count === 1 ? one : more}`

const gateways = (count: number | undefined): string => (count === undefined ? 'all gateways' : many(count, 'gateway', 'gateways'))

const english: DetailTexts = {
  state: 'State',
  versions: 'Versions',
  changes: 'Recent changes',
  outcomes: { Published: 'published', Refused: 'refused', Superseded: 'superseded', Handled: 'done', Pending: 'pending' },
  isPublished: 'currently published',
  runIt: (count) => `${many(count, 'gateway runs', 'gateways run')} it`,
  by: (who) => (who === 'generic' ? 'requested by webhook' : `requested by ${who}`),
  signedBy: (key) => `signed by ${key}`,
  took: (seconds) => `took ${seconds} s`,
  polled: (interval, onPush) =>
    interval === undefined
      ? onPush
        ? 'checked on each push'
        : 'not checked automatically'
      : `checked every ${interval}${onPush ? ' and on each push' : ''}`,
  nextPoll: (time) => `next in about ${time}`,
  rollout: 'Rollout',
  rolledOut: (updated, of) => `${updated} of ${of} run it`,
  failed: (count) => `${count} failed`,
  silent: (count) => `${count} not reporting`,
  held: (count) => `${count} held back by local changes`,
  approvedBy: (who) => `approved by ${who}`,
  localChanges: 'Changed on gateways',
  localFiles: (count) => many(count, 'file', 'files'),
  newFiles: 'New files are not listed. A capture includes those in existing projects and resources.',
  becomes: {
    Report: 'The next commit that changes one of these files overwrites the local change.',
    Restore: 'They are reverted at the next check.',
    Hold: 'They are kept: a commit that would overwrite them waits.',
    unknown: 'It is unknown whether they are kept.',
  },
  designers: 'Designer sessions',
  notices: {
    paused: (count) =>
      count === undefined ? 'Paused: nothing is written to the gateways.' : `Paused: nothing is written to ${gateways(count)}.`,
    dryRun: (count) => `Dry run on ${gateways(count)}: changes are shown but not written.`,
    outdatedAgents: (count) => `On ${gateways(count)}, the agent is too old for this GatewaySync: recreate the pods.`,
    otherVersion: (count) => `On ${gateways(count)}, the agent's version differs from that of the controller.`,
  },
  warnings: {
    openReceiver: () => 'The webhook receiver has no secret: anyone who can reach it can request a sync.',
    certificate: (until) => `The certificate of the controller expires on ${until} and has not been renewed.`,
  },
  commitChanged: 'What this commit changed',
  comparedWith: 'compared with',
  filesChanged: (count) => `${many(count, 'file', 'files')} changed`,
  ops: { add: 'new', change: 'changed', remove: 'deleted' },
  notShown: 'Not shown: the file is large, binary, or may contain a secret.',
  linesHidden: 'File contents are shown only to users who are logged in.',
  nothingBefore: 'There is no known earlier commit to compare with.',
  noFiles: 'This commit changes no file that gateways receive.',
  cannotRead: (why) => `The changes cannot be read: ${why}`,
  gateway: 'Gateway',
  agent: 'agent',
  lastSync: 'last sync',
  files: 'files',
  fileCounts: (added, changed, removed, unchanged) => `${added} new, ${changed} changed, ${removed} deleted, ${unchanged} unchanged`,
  scanned: 'last scan',
  complaints: 'Problems reported by the gateway',
  projects: 'projects',
  dryRun: 'What a sync would change',
  lastSyncs: 'Recent syncs',
  inPart: 'The full report cannot be read at the moment; this page shows the stored part.',
  taken: 'Requested. The result will appear on this page.',
}

const aufGateways = (count: number | undefined): string => (count === undefined ? 'allen Gateways' : many(count, 'Gateway', 'Gateways'))

const german: DetailTexts = {
  state: 'Zustand',
  versions: 'Versionen',
  changes: 'Letzte Änderungen',
  outcomes: { Published: 'veröffentlicht', Refused: 'abgelehnt', Superseded: 'überholt', Handled: 'erledigt', Pending: 'offen' },
  isPublished: 'jetzt veröffentlicht',
  runIt: (count) => `auf ${many(count, 'Gateway', 'Gateways')}`,
  by: (who) => (who === 'generic' ? 'angefordert per Webhook' : `angefordert von ${who}`),
  signedBy: (key) => `signiert mit ${key}`,
  took: (seconds) => `Dauer ${seconds.replace('.', ',')} s`,
  polled: (interval, onPush) =>
    interval === undefined
      ? onPush
        ? 'Abfrage bei jedem Push'
        : 'keine automatische Abfrage'
      : `Abfrage alle ${inGerman(interval)}${onPush ? ' und bei jedem Push' : ''}`,
  nextPoll: (time) => `nächste in etwa ${inGerman(time)}`,
  rollout: 'Rollout',
  rolledOut: (updated, of) => `${updated} von ${of} haben ihn`,
  failed: (count) => `${count} fehlgeschlagen`,
  silent: (count) => `${count} ohne Rückmeldung`,
  held: (count) => `${count} ${count === 1 ? 'wartet' : 'warten'} wegen lokaler Änderungen`,
  approvedBy: (who) => `freigegeben von ${who}`,
  localChanges: 'Lokal geändert',
  localFiles: (count) => many(count, 'Datei', 'Dateien'),
  newFiles: 'Neue Dateien werden hier nicht gezeigt. Eine Sicherung enthält die in vorhandenen Projekten und Ressourcen.',
  becomes: {
    Report: 'Der nächste Commit, der eine dieser Dateien ändert, überschreibt die lokale Änderung.',
    Restore: 'Bei der nächsten Prüfung werden sie zurückgesetzt.',
    Hold: 'Sie bleiben erhalten: Ein Commit, der sie überschreiben würde, wartet.',
    unknown: 'Ob sie erhalten bleiben, ist nicht bekannt.',
  },
  designers: 'Designer-Sitzungen',
  notices: {
    paused: (count) =>
      count === undefined
        ? 'Pausiert: Es wird auf kein Gateway geschrieben.'
        : `Pausiert: Auf ${aufGateways(count)} wird nichts geschrieben.`,
    dryRun: (count) => `Probelauf auf ${aufGateways(count)}: Es wird nur gezeigt, was geschehen würde.`,
    outdatedAgents: (count) => `Auf ${aufGateways(count)} ist der Agent für diesen GatewaySync zu alt: Pods neu erzeugen.`,
    otherVersion: (count) => `Auf ${aufGateways(count)} hat der Agent eine andere Version als der Controller.`,
  },
  warnings: {
    openReceiver: () => 'Der Webhook-Empfänger hat kein Secret: Wer ihn erreicht, kann eine Synchronisierung anfordern.',
    certificate: (until) => `Das Zertifikat des Controllers läuft am ${until} ab und wurde nicht erneuert.`,
  },
  commitChanged: 'Was dieser Commit geändert hat',
  comparedWith: 'gegenüber',
  filesChanged: (count) => `${many(count, 'Datei', 'Dateien')} geändert`,
  ops: { add: 'neu', change: 'geändert', remove: 'gelöscht' },
  notShown: 'Inhalt nicht gezeigt: Die Datei ist groß, binär oder kann ein Geheimnis enthalten.',
  linesHidden: 'Der Inhalt von Dateien wird nur nach einer Anmeldung gezeigt.',
  nothingBefore: 'Es ist kein früherer Commit bekannt, mit dem dieser verglichen werden könnte.',
  noFiles: 'Dieser Commit ändert keine Datei, die Gateways erhalten.',
  cannotRead: (why) => `Die Änderungen sind derzeit nicht lesbar: ${why}`,
  gateway: 'Gateway',
  agent: 'Agent',
  lastSync: 'letzte Synchronisierung',
  files: 'Dateien',
  fileCounts: (added, changed, removed, unchanged) => `${added} neu, ${changed} geändert, ${removed} gelöscht, ${unchanged} unverändert`,
  scanned: 'zuletzt eingelesen',
  complaints: 'Vom Gateway gemeldete Probleme',
  projects: 'Projekte',
  dryRun: 'Was eine Synchronisierung ändern würde',
  lastSyncs: 'Letzte Synchronisierungen',
  inPart: 'Der Bericht ist derzeit nicht lesbar; gezeigt wird der gespeicherte Auszug.',
  taken: 'Angefordert. Das Ergebnis erscheint auf dieser Seite.',
}

/** The texts of the pages of a GatewaySync, a commit or a gateway. */
export function detailTextsIn(language: Language): DetailTexts {
  return language === 'de' ? german : english
}
