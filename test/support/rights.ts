/**
 * The permissions that roles grant, one per verb, resource and name, and the permission that a question to the authorizer uses.
 */
import type { Manifest } from './manifest.ts'
import type { Question } from './api-calls.ts'

/** `name` undefined: of every name; `namespace` undefined: in all namespaces. */
export type Permission = { role: string; verb: string } & (
  { group: string; resource: string; name: string | undefined; namespace: string | undefined } | { url: string }
)

type Rule = { apiGroups?: string[]; resources?: string[]; resourceNames?: string[]; nonResourceURLs?: string[]; verbs: string[] }

/** The permissions of a Role or ClusterRole. Throws on a wildcard, because no question could show that all of it is used. */
export function rightsOf({ kind, metadata, rules }: Manifest): Permission[] {
  const role = `${kind} ${metadata.name}`
  const namespace = kind === 'Role' ? String(metadata['namespace']) : undefined
  return (rules as Rule[]).flatMap((rule) => {
    const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [], verbs } = rule
    if ([...apiGroups, ...resources, ...nonResourceURLs, ...verbs].some((part) => part.includes('*'))) {
      throw new Error(`${role} has a wildcard: ${JSON.stringify(rule)}`)
    }
    const names = resourceNames.length === 0 ? [undefined] : resourceNames
    return verbs.flatMap((verb): Permission[] => [
      ...nonResourceURLs.map((url) => ({ role, verb, url })),
      ...apiGroups.flatMap((group) =>
        resources.flatMap((resource) => names.map((name) => ({ role, verb, group, resource, name, namespace }))),
      ),
    ])
  })
}

/** The narrowest permission that grants the question: a wide one counts as used only if no narrower one applies. */
export function usedPermission(question: Question, rights: readonly Permission[]): Permission | undefined {
  const granting = rights.filter((right) => grants(right, question))
  const width = (right: Permission): number =>
    'url' in right ? 0 : (right.name === undefined ? 2 : 0) + (right.namespace === undefined ? 1 : 0)
  return granting.toSorted((a, b) => width(a) - width(b))[0]
}

function grants(right: Permission, question: Question): boolean {
  if (right.verb !== question.verb) return false
  if ('url' in right || 'url' in question) return 'url' in right && 'url' in question && right.url === question.url
  return (
    right.group === question.group &&
    right.resource === question.resource &&
    (right.name === undefined || right.name === question.name) &&
    (right.namespace === undefined || right.namespace === question.namespace)
  )
}

/** One line that describes a permission or a question. */
export function inWords(of: Permission | Question): string {
  if ('url' in of) return `${of.verb} ${of.url}`
  const name = of.name === undefined || of.name === '' ? '' : ` ${of.name}`
  return `${of.verb} ${of.group === '' ? '' : `${of.group}/`}${of.resource}${name}`
}
