/**
 * Checks resources: reads them in one stream, in their order, and returns the findings of each.
 */
import { hash } from 'node:crypto'
import type { Listing } from '../model/listing.ts'
import { projectResourceChecks, resourceChecks } from '../rules/checks.ts'
import { readResources, type ResourceContent } from './read-resources.ts'
import type { RuleId } from '../rules/rules.ts'
import { type Digest, type Violation, inRoot, type ResourceContext, type ResourceFacts, typeOf } from '../rules/input.ts'
import { notesOf } from '../model/notes.ts'
import { notedByRules } from '../rules/about-resources.ts'
import { type Checked, type CheckStep, nothingFound } from './incremental-cache.ts'
import { signatureAttribute } from '../rules/signature.ts'

/** The findings of the resource checks; the overridden resource must have been checked. */
export function checkResource(
  content: ResourceContent,
  { base: replaced, isRepeated, overridden }: CheckStep,
  context: ResourceContext,
): Checked {
  const { resource, collection, hashes, json, pointers, damaged, manifest: parsed } = content
  const own = isRepeated ? digestOf(content) : undefined
  const digest = replaced?.checked?.digest
  const base = replaced === undefined || digest === undefined ? undefined : { ...digest, collection: replaced.collection.name }
  const hashed = (file: string): string | undefined => hashes.get(file)
  const path = inRoot(context, resource.folder)
  const facts: ResourceFacts = {
    collection,
    resource,
    path,
    parsed,
    hash: hashed,
    json,
    pointers,
    damaged,
    base,
    own,
    overridden,
  }
  const checks = context.kind === 'projects' ? projectResourceChecks : resourceChecks
  const found: (readonly [RuleId, Violation])[] = []
  for (const [rule, check] of checks) for (const each of check(facts, context)) found.push([rule, each])
  const attributes = parsed.kind === 'ok' ? parsed.manifest.attributes : undefined
  const manifest = parsed.kind === 'ok' ? parsed.value : undefined
  const noted = {
    kind: context.kind,
    type: typeOf(resource),
    key: resource.key,
    json,
    hashes,
    manifest,
    attributes,
    isPartial: content.isPartial,
  }
  const notes = notesOf(noted, notedByRules(facts, context))
  if (found.length === 0 && own === undefined && notes === undefined) return nothingFound
  return { found, digest: own, base: replaced?.resource.folder, overridden, notes }
}

/** Equal for resources that a gateway would treat alike: the author and time of the last change do not count. */
function digestOf({ hashes, manifest: parsed, resource: { folder } }: ResourceContent): Digest {
  if (parsed.kind !== 'ok') return { digest: folder, overridable: true }
  const { manifest } = parsed
  const attributes = Object.entries(manifest.attributes ?? {}).filter(
    ([name]) => name !== signatureAttribute && name !== 'lastModification',
  )
  const files = [...hashes].toSorted(([a], [b]) => (a < b ? -1 : 1))
  const parts = { ...manifest, attributes: attributes.toSorted(([a], [b]) => (a < b ? -1 : 1)), files }
  return { digest: hash('sha256', textOf(parts, folder)), overridable: manifest.overridable }
}

/** JSON of a hostile depth cannot be written; it then equals nothing else. */
function textOf(value: unknown, folder: string): string {
  try {
    return JSON.stringify(value)
  } catch {
    return folder
  }
}

/** Sets `checked` of each step. Throws what reading throws. */
export async function checkSteps(
  listing: Listing,
  steps: readonly CheckStep[],
  context: ResourceContext,
  signal: AbortSignal,
): Promise<void> {
  let index = 0
  await readResources(
    listing,
    steps,
    (content) => {
      const step = steps[index]
      index += 1
      if (step !== undefined) step.checked = checkResource(content, step, context)
    },
    signal,
  )
}
