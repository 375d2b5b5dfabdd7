/**
 * The addresses of one GatewaySync, its commits and its gateways. What they show besides the fleet is read when somebody looks.
 */
import type { Context, Hono } from 'hono'
import { deadline } from '../clock.ts'
import { asFault } from '../fault.ts'
import type { FleetFacts, ReportFacts } from '../fleet/facts.ts'
import { type ChangeEntry, syncDetail } from '../fleet/sync-detail.ts'
import type { FleetView, SyncView } from '../fleet/view.ts'
import type { SyncReportStatus } from '../gatewaysync/schema/report.ts'
import { type Action, offeredActions } from './actions/action.ts'
import { hasJustActed } from './actions/routes.ts'
import { commitPage } from './commit-page.ts'
import { type Commits, wordsOf } from './commits.ts'
import { gatewayPage } from './gateway-page.ts'
import { htmlOf, type Made } from './made.ts'
import { messagePage, type PageContext } from './page.ts'
import type { Env, SyncKey } from './people.ts'
import { parseSelection } from './selection.ts'
import { syncPage } from './sync-page.ts'

/** All of a report, of which the facts hold a part; undefined where it cannot be read now. Never rejects. */
export type ReadReport = (report: ReportFacts, signal: AbortSignal) => Promise<SyncReportStatus | undefined>

/** `answer` shows only what somebody may see. `hidesLines`: of changed files only the names are shown. */
type SyncPageDeps = {
  answer(context: Context<Env>, key: string, make: (view: FleetView, own: PageContext) => Made): Promise<Response>
  facts(): FleetFacts
  /** Whether whoever asks may do something about it. Never rejects. */
  mayAct(context: Context<Env>, sync: SyncKey): Promise<boolean>
  commits: Commits | undefined
  report: ReadReport | undefined
  hidesLines: boolean
  signal: AbortSignal
}

/** A look ends after this, with what is known by then. */
const lookMs = 12_000

/** Adds the routes below `/gatewaysyncs/` to `app`. What does not exist, and what somebody may not see, is answered 404 alike. */
export function addSyncPages(app: Hono<Env>, deps: SyncPageDeps): void {
  const { answer, facts, commits, report, hidesLines, signal } = deps
  const notFound = (own: PageContext): Made => htmlOf(() => messagePage(own.words.notFound, own), 404)
  app.get('/gatewaysyncs/:namespace/:name', async (context) => {
    const { namespace, name } = context.req.param()
    const { page } = parseSelection((key) => context.req.query(key))
    const acts = await deps.mayAct(context, { namespace, name })
    const isDone = acts && hasJustActed(context)
    return await answer(context, JSON.stringify([namespace, name, page, acts, isDone]), (view, own) => {
      const sync = syncOf(view, namespace, name)
      if (sync === undefined) return notFound(own)
      return htmlOf(async () => {
        const detail = syncDetail(facts(), sync, own.now)
        const offered = offeredTo(acts, sync, detail.localChanges.length > 0)
        const named = [sync.wanted.commit, sync.published?.commit, ...detail.history.map(({ commit }) => commit)]
        return await syncPage({ sync, detail, commits: await wordsOf(commits, sync, named), page, offered }, { ...own, isDone })
      })
    })
  })
  app.get('/gatewaysyncs/:namespace/:name/commits/:commit', async (context) => {
    const { namespace, name, commit } = context.req.param()
    const acts = await deps.mayAct(context, { namespace, name })
    return await answer(context, JSON.stringify([namespace, name, 'commit', commit, acts]), (view, own) => {
      const sync = syncOf(view, namespace, name)
      // Only commits of its history: nobody reads anything else of a repository here.
      const entry = sync === undefined ? undefined : syncDetail(facts(), sync, own.now).history.find((one) => one.commit === commit)
      if (sync === undefined || entry === undefined) return notFound(own)
      return htmlOf(async () => {
        const back = offeredTo(acts, sync).find(({ name, of }) => name === 'rollback' && of === commit)
        const [words, changes] = await Promise.all([wordsOf(commits, sync, [commit]), changesOf(sync, { ...entry, commit })])
        return await commitPage({ sync, entry: { ...entry, commit }, words: words.get(commit), changes, hidesLines, back }, own)
      })
    })
  })
  app.get('/gatewaysyncs/:namespace/:name/gateways/:pod', (context) => {
    const { namespace, name, pod } = context.req.param()
    return answer(context, JSON.stringify([namespace, name, 'gateway', pod]), (view, own) => {
      const sync = syncOf(view, namespace, name)
      const gateway = sync?.gateways.find((one) => one.pod === pod)
      if (sync === undefined || gateway === undefined) return notFound(own)
      return htmlOf(async () => {
        const all = facts()
        const kept = all.reports.find((one) => one.namespace === namespace && one.pod === pod && one.gatewaySync === name)
        const whole = kept === undefined ? undefined : await report?.(kept, deadline(lookMs, signal))
        const local = syncDetail(all, sync, own.now).localChanges.find((one) => one.pod === pod)
        return await gatewayPage({ sync, gateway, report: whole, kept: kept?.told, local, hidesLines }, own)
      })
    })
  })

  function offeredTo(acts: boolean, { namespace, name, gateways }: SyncView, hasLocalChanges = false): Action[] {
    const found = acts ? facts().syncs.find((one) => one.namespace === namespace && one.name === name) : undefined
    return found === undefined ? [] : offeredActions(found, gateways, hasLocalChanges)
  }

  async function changesOf(sync: SyncView, { before, commit }: ChangeEntry & { commit: string }) {
    if (before === undefined || commits === undefined) return undefined
    try {
      return await commits.changes(sync, { from: before, commit }, deadline(lookMs, signal))
    } catch (error) {
      const { message, reason } = asFault(error)
      return { failed: `${message} (${reason})` }
    }
  }
}

function syncOf({ syncs }: FleetView, namespace: string, name: string): SyncView | undefined {
  return syncs.find((one) => one.namespace === namespace && one.name === name)
}
