/**
 * Checks that a resource named by another exists for every gateway that reads the other. Pure.
 */
import { foldName } from '../../api/values.ts'
import { isBuiltIn, projectType, type Reference, tagGroupType, tagProviderType, targets } from '../model/references.ts'
import { nearest } from '../model/known-types.ts'
import { type Violation, inRoot } from './input.ts'
import { isEffective, type Noted, type Overview, type View } from './overview.ts'

/** More would not help, and each compares the name with others letter by letter. */
const maxSuggestions = 50

export function* missingReference(overview: Overview): Generator<Violation> {
  if (!overview.isWhole) return
  let suggestions = 0
  for (const noted of overview.noted) {
    for (const reference of noted.notes?.references ?? []) {
      if (isLeftOut(overview, reference)) continue
      const without = gatewaysWithout(overview, noted, reference)
      if (without === undefined) continue
      const what = `refers to the ${calledOf(reference)} "${reference.name.slice(0, 80)}" at ${reference.at.slice(0, 200)}`
      suggestions += 1
      const meant = suggestions > maxSuggestions ? '' : suggestion(overview, reference)
      const path = inRoot(overview, noted.folder)
      const missing = without.length > 0 && isSomewhere(overview, reference) ? lack(without) : `does not exist${meant}`
      const message = `${what}, which ${missing}: the resource does not work without it`
      yield overview.kind === 'projects' ? { path, message } : { path, collection: noted.collection, message }
    }
  }
  yield* missingTagProvider(overview)
}

function calledOf({ type }: Reference): string {
  return targets[type]?.called ?? type
}

/** The modes whose gateways read the resource but lack what it names; undefined if there are none, empty if modes do not matter. */
function gatewaysWithout(overview: Overview, noted: Noted, reference: Reference): readonly View[] | undefined {
  if (isElsewhere(overview, reference)) {
    return overview.elsewhere?.get(reference.type)?.has(foldName(reference.name)) === true ? undefined : []
  }
  const views = overview.views.filter((view) => isEffective(overview, view, noted))
  const without = views.filter((view) => !isNamed(overview, view, reference))
  return without.length === 0 ? undefined : without
}

/** The folder of a provider's tags is named after it. */
function* missingTagProvider(overview: Overview): Generator<Violation> {
  for (const { collection, provider, folder } of overview.tagFolders) {
    const reference = { type: tagProviderType, name: provider, at: '' }
    if (isBuiltIn(tagProviderType, provider) || isLeftOut(overview, reference)) continue
    const views = overview.views.filter(({ chain }) => chain.includes(foldName(collection)))
    const without = views.filter((view) => !isNamed(overview, view, reference))
    if (without.length === 0) continue
    const message = `contains tags of the tag provider "${provider.slice(0, 80)}", which ${isSomewhere(overview, reference) ? lack(without) : 'does not exist'}: they are not loaded`
    yield { path: inRoot(overview, folder), collection, message }
  }
}

/** Whether a project names a resource of collections, or the reverse. */
function isElsewhere({ kind }: Overview, { type }: Reference): boolean {
  return (targets[type]?.inProjects === true) !== (kind === 'projects')
}

/** Whether the whole type is left to the gateway or to another repository. */
function isLeftOut(overview: Overview, reference: Reference): boolean {
  const { type, name } = reference
  if (isElsewhere(overview, reference)) {
    const { elsewhere } = overview
    if (elsewhere === undefined) return true
    // A pipeline is named with its project, which may be in another repository.
    if (targets[type]?.inProjects === true && type !== projectType)
      return elsewhere.get(projectType)?.has(foldName(name.split('/')[0] ?? '')) !== true
    return targets[type]?.mayBeLeftOut === true && (elsewhere.get(type)?.size ?? 0) === 0
  }
  if (targets[type]?.mayBeLeftOut !== true) return false
  const group = type === tagGroupType ? `${foldName(name.split('/')[0] ?? '')}/` : ''
  for (const all of overview.names.get(type)?.values() ?? []) for (const own of all) if (own.startsWith(group)) return false
  return true
}

function isNamed({ names }: Overview, { chain }: View, { type, name }: Reference): boolean {
  const byCollection = names.get(type)
  return chain.some((collection) => byCollection?.get(collection)?.has(foldName(name)) === true)
}

/** Whether a gateway in any deployment mode has it. */
function isSomewhere({ names }: Overview, { type, name }: Reference): boolean {
  for (const [collection, own] of names.get(type) ?? []) if (collection !== 'local' && own.has(foldName(name))) return true
  return false
}

function lack(without: readonly View[]): string {
  return `${modesOf(without)} ${without.length === 1 ? 'does' : 'do'} not have`
}

function suggestion({ names, elsewhere }: Overview, { type, name }: Reference): string {
  const all = [...(names.get(type)?.values() ?? []), elsewhere?.get(type) ?? []].flatMap((set) => [...set])
  const meant = nearest(
    foldName(name),
    all.filter((other) => other !== foldName(name)),
  )
  return meant === undefined ? '' : ` (did you mean "${meant}"?)`
}

/** The names of modes in a message. */
function modesOf(views: readonly View[]): string {
  const [only] = views
  if (views.length === 1 && only?.mode === '') return 'a gateway without a deployment mode'
  const names = views.map(({ mode }) => (mode === '' ? 'none' : `"${mode}"`))
  const last = names.pop() ?? ''
  return names.length === 0 ? `the deployment mode ${last}` : `the deployment modes ${names.join(', ')} and ${last}`
}
