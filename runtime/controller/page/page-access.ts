/**
 * What a person may see and do on the status page: the namespaces whose GatewaySyncs the API server would let them list, and the ones that it
 * would let them patch. It is asked by SubjectAccessReview, for seeing about all namespaces at once first, and answers are remembered for a
 * short time.
 */
import { createHash } from 'node:crypto'
import * as v from 'valibot'
import type { Clock } from '../../clock.ts'
import { gatewaySyncKind, group } from '../../gatewaysync/names.ts'
import { parseReview, type PostReview } from '../../kube/token-review.ts'
import type { Doing, People, Person, SyncKey } from '../../statuspage/people.ts'

/** How long an answer holds, and so how long somebody still sees what they may see no longer. */
const keptMs = 30_000
/** So many people are remembered; the one who has not looked for longest is forgotten. */
const maxPeople = 256
/** Answers about one person; with more all are asked again. */
const maxAnswers = 4_096
/** Reviews of one person under way at once: the client for reviews has eight connections, which agents need too. */
const atOnce = 4

const reviewed = v.looseObject({ status: v.looseObject({ allowed: v.optional(v.boolean(), false) }) })

export type PageAccessDeps = { post: PostReview; clock: Pick<Clock, 'monotonicMs'> }

type Known = { untilMs: number; answers: Map<string, Promise<boolean>> }

type Asks = { verb: 'list' | 'patch'; namespace: string; name?: string }

/** All namespaces, as a review names them. */
const everywhere = ''

/** What may be asked of somebody; all of it throws ApiUnavailable and what `post` throws. Failures are not remembered. */
export type PageAccess = Pick<People, 'sees'> &
  Pick<Doing, 'may'> & {
    /** As `may`, asked now. */
    mayNow(person: Person, sync: SyncKey): Promise<boolean>
  }

/** Asks the API server by SubjectAccessReviews through `post`, and keeps answers for a while, for a bounded number of people. */
export function createPageAccess({ post, clock }: PageAccessDeps): PageAccess {
  const people = new Map<string, Known>()
  const knownOf = (person: Person): Known => {
    const key = createHash('sha256')
      .update(JSON.stringify([person.name, person.groups]))
      .digest('base64')
    const before = people.get(key)
    const known =
      before !== undefined && clock.monotonicMs() < before.untilMs ? before : { untilMs: clock.monotonicMs() + keptMs, answers: new Map() }
    people.delete(key)
    people.set(key, known)
    const [oldest] = people.keys()
    if (people.size > maxPeople && oldest !== undefined) people.delete(oldest)
    return known
  }
  const allowed = (person: Person, { answers }: Known, asks: Asks): Promise<boolean> => {
    const key = JSON.stringify(asks)
    const before = answers.get(key)
    if (before !== undefined) return before
    if (answers.size >= maxAnswers) answers.clear()
    const asked = review(post, person, asks)
    answers.set(key, asked)
    asked.catch(() => answers.delete(key))
    return asked
  }
  const sees: People['sees'] = async (person, namespaces) => {
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
    may: (person, sync) => allowed(person, knownOf(person), toPatch(sync)),
    mayNow: (person, sync) => review(post, person, toPatch(sync)),
  }
}

/** What `kubectl annotate` and `cluster-sync` need to write the same. */
function toPatch({ namespace, name }: SyncKey): Asks {
  return { verb: 'patch', namespace, name }
}

async function review(post: PostReview, { name, groups }: Person, asks: Asks): Promise<boolean> {
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user: name, groups, resourceAttributes: { ...asks, group, resource: gatewaySyncKind.plural } },
  }
  return parseReview(reviewed, await post('/apis/authorization.k8s.io/v1/subjectaccessreviews', body)).status.allowed
}
