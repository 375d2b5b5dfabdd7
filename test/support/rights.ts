/**
 * What roles grant, one right for each verb, resource and name, and which of them a question to the authoriser uses.
 */
import type { Manifest } from './manifest.ts'
import type { Question } from './api-calls.ts'

/** `name` undefined: of every name; `namespace` undefined: in all of them. */
export type Right = { role: string; verb: string } & (
  { group: string; resource: string; name: string | undefined; namespace: string | undefined } | { url: string }
)

type Rule = { apiGroups?: string[]; resources?: string[]; resourceNames?: string[]; nonResourceURLs?: string[]; verbs: string[] }

/** The rights of a Role or ClusterRole. Throws where one has a wildcard: no question could tell whether all of that is used. */
export function rightsOf({ kind, metadata, rules }: Manifest): Right[] {
  const role = `${kind} ${metadata.name}`
  const namespace = kind === 'Role' ? String(metadata['namespace']) : undefined
  return (rules as Rule[]).flatMap((rule) => {
    const { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [], verbs } = rule
    if ([...apiGroups, ...resources, ...nonResourceURLs, ...verbs].some((part) => part.includes('*'))) {
      throw new Error(`${role} has a wildcard: ${JSON.stringify(rule)}`)
    }
    const names = resourceNames.length === 0 ? [undefined] : resourceNames
    return verbs.flatMap((verb): Right[] => [
      ...nonResourceURLs.map((url) => ({ role, verb, url })),
      ...apiGroups.flatMap((group) =>
        resources.flatMap((resource) => names.map((name) => ({ role, verb, group, resource, name, namespace }))),
      ),
    ])
  })
}

/** The narrowest of the rights that grant what is asked: only where nothing narrower does is a wide one used. */
export function usedRight(question: Question, rights: readonly Right[]): Right | undefined {
  const granting = rights.filter((right) => grants(right, question))
  const width = (right: Right): number =>
    'url' in right ? 0 : (right.name === undefined ? 2 : 0) + (right.namespace === undefined ? 1 : 0)
  return granting.toSorted((a, b) => width(a) - width(b))[0]
}

function grants(right: Right, question: Question): boolean {
  if (right.verb !== question.verb) return false
  if ('url' in right || 'url' in question) return 'url' in right && 'url' in question && right.url === question.url
  return (
    right.group === question.group &&
    right.resource === question.resource &&
    (right.name === undefined || right.name === question.name) &&
    (right.namespace === undefined || right.namespace === question.namespace)
  )
}

/** One line that says what a right or a question is about. */
export function inWords(of: Right | Question): string {
  if ('url' in of) return `${of.verb} ${of.url}`
  const name = of.name === undefined || of.name === '' ? '' : ` ${of.name}`
  return `${of.verb} ${of.group === '' ? '' : `${of.group}/`}${of.resource}${name}`
}
