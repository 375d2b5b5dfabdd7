/**
 * Determines what a person may see and do on the status page: the namespaces whose GatewaySyncs the API server would let them list, and the
 * GatewaySyncs it would let them patch. Uses SubjectAccessReviews, for viewing first about all namespaces at once; answers are cached
 * briefly. Executes actions with the controller's account, without impersonation: the annotation, an Event and the log record the person.
 */
import { createHash } from 'node:crypto'
import RateLimiterMemory from 'rate-limiter-flexible/lib/RateLimiterMemory.js'
import RateLimiterRes from 'rate-limiter-flexible/lib/RateLimiterRes.js'
import * as v from 'valibot'
import { type Clock, timestamp } from '../../platform/clock.ts'
import { apiVersion, gatewaySyncKind, group, pageFieldManager } from '../../api/names.ts'
import type { EventRecorder } from '../../kube/events.ts'
import { parseReview, type PostReview } from '../../kube/token-review.ts'
import { Fault } from '../../platform/fault.ts'
import type { Log } from '../../platform/log/log.ts'
import { type Action, changeOf } from '../../statuspage/actions/action.ts'
import { actionTextsIn, labelOf } from '../../statuspage/locales/action-texts.ts'
import type { UserActions, PageAuth, Person, SyncName } from '../../statuspage/views/page-auth.ts'
import { type ChangeDeps, changeSync } from '../cluster/change-sync.ts'

/** How long an answer is cached, and so how long a revoked permission still works. */
const keptMs = 30_000
/** Maximum number of cached users; the least recently active one is dropped. */
const maxUsers = 256
/** Answers about one person; beyond this the cache is cleared. */
const maxAnswers = 4_096
/** Concurrent reviews of one person: the client for reviews has eight connections, which agents need too. */
const atOnce = 4

const reviewed = v.looseObject({ status: v.looseObject({ allowed: v.optional(v.boolean(), false) }) })

export type PageAccessDeps = { post: PostReview; clock: Pick<Clock, 'monotonicMs'> }

type Known = { untilMs: number; answers: Map<string, Promise<boolean>> }

type Access = { verb: 'list' | 'patch'; namespace: string; name?: string }

/** All namespaces, in a review. */
const everywhere = ''

/** All methods throw ApiUnavailable and what `post` throws. Failures are not cached. */
export type PageAccess = Required<Pick<PageAuth, 'sees' | 'seesAll'>> &
  Pick<UserActions, 'may'> & {
    /** As `may`, without the cache. */
    mayNow(person: Person, sync: SyncName): Promise<boolean>
  }

/** Sends SubjectAccessReviews through `post`, and caches answers for a limited time and number of users. */
export function createPageAccess({ post, clock }: PageAccessDeps): PageAccess {
  const usersByKey = new Map<string, Known>()
  const knownOf = (person: Person): Known => {
    const key = createHash('sha256')
      .update(JSON.stringify([person.name, person.groups]))
      .digest('base64')
    const before = usersByKey.get(key)
    const known =
      before !== undefined && clock.monotonicMs() < before.untilMs ? before : { untilMs: clock.monotonicMs() + keptMs, answers: new Map() }
    usersByKey.delete(key)
    usersByKey.set(key, known)
    const [oldest] = usersByKey.keys()
    if (usersByKey.size > maxUsers && oldest !== undefined) usersByKey.delete(oldest)
    return known
  }
  const allowed = (person: Person, { answers }: Known, access: Access): Promise<boolean> => {
    const key = JSON.stringify(access)
    const before = answers.get(key)
    if (before !== undefined) return before
    if (answers.size >= maxAnswers) answers.clear()
    const answer = review(post, person, access)
    answers.set(key, answer)
    answer.catch(() => answers.delete(key))
    return answer
  }
  const sees: PageAuth['sees'] = async (person, namespaces) => {
    const known = knownOf(person)
    const lists = (namespace: string): Promise<boolean> => allowed(person, known, { verb: 'list', namespace })
    if (await lists(everywhere)) return new Set(namespaces)
    const seen = new Set<string>()
    const left = [...new Set(namespaces)]
    const work = async (): Promise<void> => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) if (await lists(next)) seen.add(next)
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    return seen
  }
  return {
    sees,
    seesAll: (person) => allowed(person, knownOf(person), { verb: 'list', namespace: everywhere }),
    may: (person, sync) => allowed(person, knownOf(person), toPatch(sync)),
    mayNow: (person, sync) => review(post, person, toPatch(sync)),
  }
}

/** What `kubectl annotate` and `cluster-sync` need for the same write. */
function toPatch({ namespace, name }: SyncName): Access {
  return { verb: 'patch', namespace, name }
}

async function review(post: PostReview, { name, groups }: Person, access: Access): Promise<boolean> {
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user: name, groups, resourceAttributes: { ...access, group, resource: gatewaySyncKind.plural } },
  }
  return parseReview(reviewed, await post('/apis/authorization.k8s.io/v1/subjectaccessreviews', body)).status.allowed
}

type PageActionDeps = ChangeDeps & {
  access: Pick<PageAccess, 'may' | 'mayNow'>
  formKeys: UserActions['formKeys']
  events: Pick<EventRecorder, 'record'>
  clock: Clock
  log: Log
}

/** Actions of one person per minute: more than people click, and fewer than the Events written for one object. */
const perMinute = 10
/** Maximum characters of the annotation. */
const maxBy = 128

/** Returns the actions of the status page. */
export function createPageActions({ access, formKeys, events, log, ...deps }: PageActionDeps): UserActions {
  const pace = new RateLimiterMemory({ keyPrefix: '', points: perMinute, duration: 60 })
  return {
    may: access.may,
    formKeys,
    async act(person, sync, action) {
      await keepPace(pace, person)
      if (!(await access.mayNow(person, sync)))
        throw new Fault('Forbidden', `${person.name} may not patch gatewaysyncs in ${sync.namespace}`)
      const origin = { by: `status page: ${person.name}`.slice(0, maxBy), at: timestamp(deps.clock.now()), id: deps.clock.uuid() }
      const { uid } = await changeSync(deps, sync, (record) => changeOf(action, record, origin), pageFieldManager)
      const note = noteOf(person, action)
      log.info({ component: 'status-page', ...sync, requestId: origin.id, message: note }, 'action on the status page')
      events.record({ regarding: regarding(sync, uid), type: 'Normal', reason: 'RequestedOnPage', action: 'Request', note })
    },
  }
}

async function keepPace(pace: RateLimiterMemory, { name }: Person): Promise<void> {
  try {
    await pace.consume(name)
  } catch (passed) {
    if (!(passed instanceof RateLimiterRes)) throw passed
    throw new Fault('TooManyRequests', `${name} has made ${perMinute} changes within a minute`, { cause: passed })
  }
}

function noteOf({ name }: Person, action: Action): string {
  return `${name} requested on the status page: ${labelOf(action, actionTextsIn('en'))}`
}

function regarding({ namespace, name }: SyncName, uid: string) {
  return { apiVersion, kind: gatewaySyncKind.kind, namespace, name, uid }
}
