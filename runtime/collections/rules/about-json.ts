/**
 * Checks of what JSON files hold as text: whether a gateway can read them at all. Pure.
 */
import { foldName } from '../../gatewaysync/values.ts'
import type { Damage, DamageKind } from '../model/json-damage.ts'
import { type Found, nameInResource, type ResourceCheck, type ResourceFacts, type TreeCheck, type TreeFacts } from './input.ts'

export const damageRules = [
  'merge-conflict',
  'zero-bytes',
  'not-utf-8',
  'empty-file',
  'truncated-json',
  'invalid-json',
  'byte-order-mark',
  'duplicate-key',
] as const satisfies readonly DamageKind[]

/** What a manifest that cannot be parsed is called by the rule for that kind of manifest. */
const generalKinds: ReadonlySet<DamageKind> = new Set(['truncated-json', 'invalid-json'])

/** Whether a rule of its own says why a manifest cannot be read. */
export function isExplained(damage: Damage | undefined): boolean {
  return damage !== undefined && !generalKinds.has(damage.kind)
}

/** The check of resources for one kind of damage. */
export function damagedFile(kind: DamageKind): ResourceCheck {
  // Each resource is asked for each kind, and nearly none has any.
  return (facts) => (facts.damaged.size === 0 ? [] : findDamaged(facts, kind))
}

function* findDamaged({ collection, damaged, parsed, resource }: ResourceFacts, kind: DamageKind): Generator<Found> {
  const listed = parsed.kind === 'ok' ? new Set(parsed.manifest.files) : undefined
  for (const [path, damage] of damaged) {
    if (damage.kind !== kind) continue
    const isManifest = path === resource.manifest.path
    if (isManifest ? !isExplained(damage) : listed !== undefined && !listed.has(nameInResource(resource, path))) continue
    const found = { path, collection: collection.name, message: damage.problem }
    const isMild = damage.isTemplate === true || foldName(collection.name) === 'local'
    yield isMild ? { ...found, severity: 'warning' } : found
  }
}

/** The check of the manifests of collections for one kind of damage. */
export function damagedMode(kind: DamageKind): TreeCheck {
  return function* ({ tree, damagedModes }: TreeFacts): Generator<Found> {
    for (const { name, manifest } of tree.collections) {
      const damage = damagedModes.get(name)
      if (manifest === undefined || damage?.kind !== kind || !isExplained(damage)) continue
      yield { path: manifest.path, collection: name, message: damage.problem }
    }
  }
}
