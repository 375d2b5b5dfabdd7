/**
 * Prints what changes: one line for each new commit, for each refusal with its reason, and for each new state of a gateway. Nothing is printed
 * while nothing changes, or for what an earlier run found.
 */
import type { Fault } from '../fault.ts'
import { describeErrors } from '../gatewaysync/decide/findings.ts'
import { remarksOf } from '../gatewaysync/decide/remarks.ts'
import type { SyncReportStatus } from '../gatewaysync/schema/report.ts'
import type { GatewaySyncStatus } from '../gatewaysync/schema/status.ts'
import { shortCommit } from '../gatewaysync/values.ts'

/** Receives every status and report, and prints the news among them. */
export type Progress = {
  /** `answered`: the git host has answered in this run, well or with `fault`. */
  status(status: GatewaySyncStatus, answered: boolean, fault: Fault | undefined): void
  report(target: string, status: SyncReportStatus): void
  /** Prints what keeps the run itself from working, such as a state folder that cannot be written. */
  failed(fault: Fault): void
}

type NarratedTarget = { name: string; gatewayUrl: string | undefined }

/** `write` gets each line without its line end. */
export function createProgress(write: (line: string) => void, targets: readonly NarratedTarget[]): Progress {
  const told = new Map<string, string>()
  const findings = new Map<string, ReadonlySet<string>>()
  const inPlace = new Set<string>()
  let requests: ReadonlySet<string> | undefined
  const tell = (about: string, line: string): void => {
    if (told.get(about) === line) return
    told.set(about, line)
    write(line)
  }

  const tellRequests = (status: GatewaySyncStatus, answered: boolean): void => {
    const all = status.requests ?? []
    const known = requests ?? new Set(answered ? [] : all.map(({ id }) => id))
    for (const { id, ref, outcome, reason, message } of all) {
      if (known.has(id) || outcome !== 'Refused') continue
      write(`the push for ${ref} is refused: ${message ?? 'no reason is known'} (${reason ?? outcome}); ${whatStays(status)}`)
    }
    requests = new Set([...known, ...all.map(({ id }) => id)])
  }

  const tellReady = (status: GatewaySyncStatus): void => {
    const [ready, gateways] = ['Ready', 'GatewaysSynced'].map((type) => status.conditions?.find((condition) => condition.type === type))
    if (ready === undefined) return
    if (ready.status === 'True') {
      if (targets.every(({ name }) => inPlace.has(name))) tell('ready', `ready: ${ready.message}`)
      return
    }
    // The targets' own lines say what they wait for, or why they failed.
    if (ready.status === 'Unknown' || (ready.reason === gateways?.reason && gateways.status !== 'True')) return
    const { source } = status
    const what =
      source?.held === undefined || source.commit === undefined
        ? `${ready.message} (${ready.reason})`
        : `commit ${shortCommit(source.commit)} of ${source.ref} is refused: ${ready.message} (${ready.reason})`
    tell('ready', `not ready: ${what}; ${whatStays(status)}`)
  }

  return {
    status(status, answered, fault) {
      tellRequests(status, answered)
      if (!answered) return
      const { published, source } = status
      if (published !== undefined && fault === undefined)
        tell('published', `published ${shortCommit(published.commit)} of ${published.ref}`)
      if (source?.held === undefined && (status.findings?.errors ?? 0) > 0 && status.findings !== undefined)
        tell('checks', `the checks found ${describeErrors(status.findings)}; it is published all the same, as spec.validation says`)
      tellReady(status)
    },
    report(target, status) {
      if (status.phase === 'Synced' || status.phase === 'Drifted') inPlace.add(target)
      else inPlace.delete(target)
      const hasGateway = targets.some(({ name, gatewayUrl }) => name === target && gatewayUrl !== undefined)
      tell(target, `${target}: ${describeReport(status, hasGateway)}`)
      if (status.finishedAt === undefined) return
      const lines = new Set(remarksOf(status).map((remark) => `${target}: ${remark}`))
      for (const line of lines) if (findings.get(target)?.has(line) !== true) write(line)
      findings.set(target, lines)
    },
    failed(fault) {
      tell('failed', `${fault.message} (${fault.reason}); trying again`)
    },
  }
}

/** `Synced 1a2b3c4d, 3 added, 1 changed, 0 removed, 9 unchanged, gateway read projects`. */
function describeReport(status: SyncReportStatus, hasGateway: boolean): string {
  const parts = [status.commit === undefined ? status.phase : `${status.phase} ${shortCommit(status.commit)}`]
  const { files, scan, reason, message } = status
  if (files !== undefined)
    parts.push(`${files.added} added, ${files.changed} changed, ${files.removed} removed, ${files.unchanged} unchanged`)
  const scanned = (['projects', 'config'] as const).filter((kind) => scan?.[kind] !== undefined)
  // Before the gateway has read this commit, its last scan may be about another one.
  if (hasGateway && scanned.length > 0 && (status.phase === 'Synced' || status.phase === 'Drifted'))
    parts.push(`gateway read ${scanned.join(' and ')}`)
  if (status.phase !== 'Synced' && message !== undefined) parts.push(reason === undefined ? message : `${message} (${reason})`)
  return parts.join(', ')
}

function whatStays({ published }: GatewaySyncStatus): string {
  return published === undefined ? 'nothing is published yet' : `commit ${shortCommit(published.commit)} of ${published.ref} stays`
}
