/**
 * Checks of whether a gateway can read the text of JSON files, scripts and queries. Pure.
 */
import { foldName } from '../../api/values.ts'
import type { Damage, DamageKind } from '../model/json-damage.ts'
import { type Violation, nameInResource, type ResourceCheck, type ResourceFacts, type TreeCheck, type TreeFacts } from './input.ts'

export const damageRules = [
  'encrypted-file',
  'merge-conflict',
  'zero-bytes',
  'not-utf-8',
  'empty-file',
  'truncated-json',
  'invalid-json',
  'byte-order-mark',
  'duplicate-key',
] as const satisfies readonly DamageKind[]

/** Kinds that the rule for a manifest of that kind reports itself. */
const generalKinds: ReadonlySet<DamageKind> = new Set(['truncated-json', 'invalid-json'])

/** Whether a separate rule reports why a manifest cannot be read. */
export function isExplained(damage: Damage | undefined): boolean {
  return damage !== undefined && !generalKinds.has(damage.kind)
}

/** Returns the check of resources for one kind of damage. */
export function damagedFile(kind: DamageKind): ResourceCheck {
  // Runs for each resource and kind; nearly all resources are undamaged.
  return (facts) => (facts.damaged.size === 0 ? [] : findDamaged(facts, kind))
}

function* findDamaged({ collection, damaged, parsed, resource }: ResourceFacts, kind: DamageKind): Generator<Violation> {
  const listed = parsed.kind === 'ok' ? new Set(parsed.manifest.files) : undefined
  for (const [path, damage] of damaged) {
    if (damage.kind !== kind) continue
    const isManifest = path === resource.manifest.path
    if (isManifest ? !isExplained(damage) : listed !== undefined && !listed.has(nameInResource(resource, path))) continue
    const found = { path, collection: collection.name, message: messageOf(damage) }
    const isMild = damage.isTemplate === true || damage.isReadable === true || foldName(collection.name) === 'local'
    yield isMild ? { ...found, severity: 'warning' } : found
  }
}

function messageOf({ kind, problem, isTemplate, isReadable }: Damage): string {
  if (isReadable === true) return `${problem}: some of its characters will be wrong`
  if (isTemplate === true) return `${problem}: the gateway cannot read the file unless it is rendered first`
  if (kind === 'byte-order-mark') return `${problem}: how a gateway handles it is unknown`
  if (kind === 'encrypted-file') return `${problem}: the gateway would read the encrypted text, because nothing decrypts it`
  return kind === 'duplicate-key' ? `${problem}: one of the two values is ignored` : `${problem}, so the gateway cannot read the file`
}

/** Returns the check of collection manifests for one kind of damage. */
export function damagedMode(kind: DamageKind): TreeCheck {
  return function* ({ tree, damagedModes }: TreeFacts): Generator<Violation> {
    for (const { name, manifest } of tree.collections) {
      const damage = damagedModes.get(name)
      if (manifest === undefined || damage?.kind !== kind || !isExplained(damage)) continue
      yield { path: manifest.path, collection: name, message: messageOf(damage) }
    }
  }
}
