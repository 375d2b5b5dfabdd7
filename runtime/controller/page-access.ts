/**
 * What a person may see on the status page: the namespaces whose GatewaySyncs the API server would let them list. It is asked by
 * SubjectAccessReview, first about all namespaces at once, and answers are remembered for a short time.
 */
import { createHash } from 'node:crypto'
import * as v from 'valibot'
import type { Clock } from '../clock.ts'
import { gatewaySyncKind, group } from '../gatewaysync/names.ts'
import { parseReview, type PostReview } from '../kube/token-review.ts'
import type { People, Person } from '../statuspage/people.ts'

/** How long an answer holds, and so how long somebody still sees what they may see no longer. */
const keptMs = 30_000
/** So many people are remembered; the one who has not looked for longest is forgotten. */
const maxPeople = 256
/** Reviews of one person under way at once: the client for reviews has eight connections, which agents need too. */
const atOnce = 4

const reviewed = v.looseObject({ status: v.looseObject({ allowed: v.optional(v.boolean(), false) }) })

export type PageAccessDeps = { post: PostReview; clock: Pick<Clock, 'monotonicMs'> }

type Known = { untilMs: number; byNamespace: Map<string, Promise<boolean>> }

/** All namespaces, as a review names them. */
const everywhere = ''

/** Returns the `sees` of the status page. It throws ApiUnavailable and what `post` throws; failures are not remembered. */
export function createPageAccess({ post, clock }: PageAccessDeps): People['sees'] {
  const people = new Map<string, Known>()
  const knownOf = (person: Person): Known => {
    const key = createHash('sha256')
      .update(JSON.stringify([person.name, person.groups]))
      .digest('base64')
    const before = people.get(key)
    const known =
      before !== undefined && clock.monotonicMs() < before.untilMs
        ? before
        : { untilMs: clock.monotonicMs() + keptMs, byNamespace: new Map() }
    people.delete(key)
    people.set(key, known)
    const [oldest] = people.keys()
    if (people.size > maxPeople && oldest !== undefined) people.delete(oldest)
    return known
  }
  const allowed = (person: Person, { byNamespace }: Known, namespace: string): Promise<boolean> => {
    const before = byNamespace.get(namespace)
    if (before !== undefined) return before
    const asked = mayList(post, person, namespace)
    byNamespace.set(namespace, asked)
    asked.catch(() => byNamespace.delete(namespace))
    return asked
  }
  return async (person, namespaces) => {
    const known = knownOf(person)
    if (await allowed(person, known, everywhere)) return new Set(namespaces)
    const seen = new Set<string>()
    const left = [...new Set(namespaces)]
    const work = async (): Promise<void> => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) if (await allowed(person, known, next)) seen.add(next)
    }
    await Promise.all(Array.from({ length: atOnce }, work))
    return seen
  }
}

async function mayList(post: PostReview, { name, groups }: Person, namespace: string): Promise<boolean> {
  const body = {
    apiVersion: 'authorization.k8s.io/v1',
    kind: 'SubjectAccessReview',
    spec: { user: name, groups, resourceAttributes: { namespace, verb: 'list', group, resource: gatewaySyncKind.plural } },
  }
  return parseReview(reviewed, await post('/apis/authorization.k8s.io/v1/subjectaccessreviews', body)).status.allowed
}
