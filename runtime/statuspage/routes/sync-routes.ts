/**
 * Serves the pages of one GatewaySync, its commits and its gateways. Details beyond the fleet view are read on request.
 */
import type { Context, Hono } from 'hono'
import { deadline } from '../../platform/clock.ts'
import { asFault } from '../../platform/fault.ts'
import type { FleetFacts, ReportFacts } from '../../fleet/facts.ts'
import { type ChangeEntry, syncDetail } from '../../fleet/sync-detail.ts'
import type { FleetView, SyncView } from '../../fleet/view.ts'
import type { SyncReportStatus } from '../../api/schema/report.ts'
import { type Action, offeredActions } from '../actions/action.ts'
import { hasJustActed } from './action-routes.ts'
import { commitPage } from '../views/commit-page.ts'
import { type Commits, readSummaries } from '../views/commits.ts'
import { gatewayPage } from '../views/gateway-page.ts'
import { messagePage, type PageContext } from '../views/page.ts'
import type { Env, SyncName } from '../views/page-auth.ts'
import { parseSelection } from '../views/selection.ts'
import { syncPage } from '../views/sync-page.ts'
import { htmlOf, type LazyResponse } from './rendered.ts'

/** Reads a complete report; the facts contain only a part of it. Undefined if it cannot be read. Never rejects. */
export type ReadReport = (report: ReportFacts, signal: AbortSignal) => Promise<SyncReportStatus | undefined>

/** `answer` shows only what the user may see. `hidesLines`: show only the names of changed files. */
type SyncPageDeps = {
  answer(context: Context<Env>, key: string, make: (view: FleetView, own: PageContext) => LazyResponse): Promise<Response>
  facts(): FleetFacts
  /** Whether the user may change the GatewaySync. Never rejects. */
  mayAct(context: Context<Env>, sync: SyncName): Promise<boolean>
  commits: Commits | undefined
  report: ReadReport | undefined
  hidesLines: boolean
  signal: AbortSignal
}

/** Deadline for reading details; the page then shows what is known. */
const readTimeoutMs = 12_000

/** Adds the routes below `/gatewaysyncs/` to `app`. Returns 404 both for missing objects and for those that the user may not see. */
export function addSyncPages(app: Hono<Env>, deps: SyncPageDeps): void {
  addSyncPage(app, deps)
  addCommitPage(app, deps)
  addGatewayPage(app, deps)
}

function addSyncPage(app: Hono<Env>, { answer, facts, mayAct, commits }: SyncPageDeps): void {
  app.get('/gatewaysyncs/:namespace/:name', async (context) => {
    const { namespace, name } = context.req.param()
    const { page } = parseSelection((key) => context.req.query(key))
    const acts = await mayAct(context, { namespace, name })
    const isDone = acts && hasJustActed(context)
    return await answer(context, JSON.stringify([namespace, name, page, acts, isDone]), (view, own) => {
      const sync = syncOf(view, namespace, name)
      if (sync === undefined) return notFound(own)
      return htmlOf(async () => {
        const detail = syncDetail(facts(), sync, own.now)
        const offered = acts ? offeredBy(facts(), sync, detail.localChanges.length > 0) : []
        const named = [sync.desired.commit, sync.published?.commit, ...detail.history.map(({ commit }) => commit)]
        return await syncPage({ sync, detail, commits: await readSummaries(commits, sync, named), page, offered }, { ...own, isDone })
      })
    })
  })
}

function addCommitPage(app: Hono<Env>, deps: SyncPageDeps): void {
  const { answer, facts, mayAct, commits, hidesLines } = deps
  app.get('/gatewaysyncs/:namespace/:name/commits/:commit', async (context) => {
    const { namespace, name, commit } = context.req.param()
    const acts = await mayAct(context, { namespace, name })
    return await answer(context, JSON.stringify([namespace, name, 'commit', commit, acts]), (view, own) => {
      const sync = syncOf(view, namespace, name)
      // Only commits of the history: the page must not expose anything else of a repository.
      const entry = sync === undefined ? undefined : syncDetail(facts(), sync, own.now).history.find((one) => one.commit === commit)
      if (sync === undefined || entry === undefined) return notFound(own)
      return htmlOf(async () => {
        const offered = acts ? offeredBy(facts(), sync) : []
        const back = offered.find(({ name, of }) => name === 'rollback' && of === commit)
        const [summaries, changes] = await Promise.all([
          readSummaries(commits, sync, [commit]),
          changesOf(deps, sync, { ...entry, commit }),
        ])
        return await commitPage({ sync, entry: { ...entry, commit }, summary: summaries.get(commit), changes, hidesLines, back }, own)
      })
    })
  })
}

function addGatewayPage(app: Hono<Env>, { answer, facts, report, hidesLines, signal }: SyncPageDeps): void {
  app.get('/gatewaysyncs/:namespace/:name/gateways/:pod', (context) => {
    const { namespace, name, pod } = context.req.param()
    return answer(context, JSON.stringify([namespace, name, 'gateway', pod]), (view, own) => {
      const sync = syncOf(view, namespace, name)
      const gateway = sync?.gateways.find((one) => one.pod === pod)
      if (sync === undefined || gateway === undefined) return notFound(own)
      return htmlOf(async () => {
        const all = facts()
        const kept = all.reports.find((one) => one.namespace === namespace && one.pod === pod && one.gatewaySync === name)
        const whole = kept === undefined ? undefined : await report?.(kept, deadline(readTimeoutMs, signal))
        const local = syncDetail(all, sync, own.now).localChanges.find((one) => one.pod === pod)
        return await gatewayPage({ sync, gateway, report: whole, kept: kept?.details, local, hidesLines }, own)
      })
    })
  })
}

function notFound(own: PageContext): LazyResponse {
  return htmlOf(() => messagePage(own.texts.notFound, own), 404)
}

function offeredBy({ syncs }: FleetFacts, { namespace, name, gateways }: SyncView, hasLocalChanges = false): Action[] {
  const found = syncs.find((one) => one.namespace === namespace && one.name === name)
  return found === undefined ? [] : offeredActions(found, gateways, hasLocalChanges)
}

async function changesOf({ commits, signal }: SyncPageDeps, sync: SyncView, { before, commit }: ChangeEntry & { commit: string }) {
  if (before === undefined || commits === undefined) return undefined
  try {
    return await commits.changes(sync, { from: before, commit }, deadline(readTimeoutMs, signal))
  } catch (error) {
    const { message, reason } = asFault(error)
    return { failed: `${message} (${reason})` }
  }
}

function syncOf({ syncs }: FleetView, namespace: string, name: string): SyncView | undefined {
  return syncs.find((one) => one.namespace === namespace && one.name === name)
}
