/**
 * Tells a person what changes: one line for each new commit and for each new state of a gateway, nothing while nothing changes.
 */
import type { SyncReportStatus } from '../gatewaysync/report.ts'
import type { GatewaySyncStatus } from '../gatewaysync/status.ts'

export type Narrator = {
  status(status: GatewaySyncStatus): void
  report(target: string, status: SyncReportStatus): void
}

export function createNarrator(write: (line: string) => void): Narrator {
  const told = new Map<string, string>()
  const tell = (about: string, line: string): void => {
    if (told.get(about) === line) return
    told.set(about, line)
    write(line)
  }
  return {
    status(status) {
      if (status.published !== undefined) tell('published', `published ${short(status.published.commit)} of ${status.published.ref}`)
      const ready = status.conditions?.find(({ type }) => type === 'Ready')
      if (ready !== undefined)
        tell('ready', ready.status === 'True' ? `ready: ${ready.message}` : `not ready: ${ready.message} (${ready.reason})`)
    },
    report(target, status) {
      tell(target, `${target}: ${describeReport(status)}`)
    },
  }
}

/** `Synced 1a2b3c4, 3 added, 1 changed, 0 removed, scanned`. */
function describeReport(status: SyncReportStatus): string {
  const parts = [status.commit === undefined ? status.phase : `${status.phase} ${short(status.commit)}`]
  const { files, scan, reason, message } = status
  if (files !== undefined)
    parts.push(`${files.added} added, ${files.changed} changed, ${files.removed} removed, ${files.unchanged} unchanged`)
  const scanned = (['projects', 'config'] as const).filter((kind) => scan?.[kind] !== undefined)
  if (scanned.length > 0) parts.push(`gateway read ${scanned.join(' and ')}`)
  if (status.phase !== 'Synced' && message !== undefined) parts.push(reason === undefined ? message : `${message} (${reason})`)
  return parts.join(', ')
}

function short(commit: string): string {
  return commit.slice(0, 8)
}
