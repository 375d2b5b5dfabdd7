/**
 * Asks the API server what the accounts of an installation may do.
 */
import type { OperatorSettings, Right, RightAnswer } from '../../fleet/check/facts.ts'
import { agentRights, controllerRights } from '../../fleet/check/rights.ts'
import type { Followers, Looking } from './looking.ts'

type Question = { account: { namespace: string; name: string }; right: Right; namespace: string | undefined }

/** Of a fleet of hundreds of accounts these are asked about. */
const mostAgentAccounts = 50

/** Throws Forbidden where the user may not ask about others. */
export async function askRights(
  { kube, signal }: Looking,
  { account, settings }: { account: string; settings: OperatorSettings },
  followers: Followers,
): Promise<RightAnswer[]> {
  const questions = [...ofController(account, settings), ...ofAgents(settings, followers)]
  return await Promise.all(
    questions.map(async ({ account: { namespace, name }, right, namespace: within }) => {
      const [resource, subresource] = right.resource.split('/')
      const attributes = {
        verb: right.verb,
        group: right.group,
        resource,
        ...(subresource === undefined ? {} : { subresource }),
        ...(right.name === undefined ? {} : { name: right.name }),
        ...(within === undefined ? {} : { namespace: within }),
      }
      const user = `system:serviceaccount:${namespace}:${name}`
      const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated']
      const review = {
        apiVersion: 'authorization.k8s.io/v1',
        kind: 'SubjectAccessReview',
        spec: { user, groups, resourceAttributes: attributes },
      }
      const answer = await kube.post('/apis/authorization.k8s.io/v1/subjectaccessreviews', review, signal)
      const allowed = (answer as { status?: { allowed?: boolean } }).status?.allowed === true
      return { account: `${namespace}/${name}`, right, namespace: within, allowed }
    }),
  )
}

function ofController(name: string, settings: OperatorSettings): Question[] {
  const { namespace, watchNamespaces } = settings
  const account = { namespace, name }
  const watched: (string | undefined)[] = watchNamespaces.length === 0 ? [undefined] : [...watchNamespaces]
  return controllerRights(settings).flatMap(({ where, ...right }) => {
    const namespaces = { cluster: [undefined], own: [namespace], watched }[where]
    return namespaces.map((within) => ({ account, right, namespace: within }))
  })
}

/** The accounts of the gateway pods that this installation looks after. */
function ofAgents({ watchNamespaces }: OperatorSettings, { syncs, pods }: Followers): Question[] {
  const followed = new Set(
    syncs.map(({ namespace }) => namespace).filter((name) => watchNamespaces.length === 0 || watchNamespaces.includes(name)),
  )
  const accounts = new Map<string, { namespace: string; name: string }>()
  for (const { metadata, spec } of pods) {
    const namespace = metadata.namespace ?? ''
    const name = (spec as { serviceAccountName?: string } | undefined)?.serviceAccountName ?? 'default'
    if (followed.has(namespace)) accounts.set(`${namespace}/${name}`, { namespace, name })
  }
  return [...accounts.values()]
    .slice(0, mostAgentAccounts)
    .flatMap((account) => agentRights.map((right) => ({ account, right, namespace: account.namespace })))
}
