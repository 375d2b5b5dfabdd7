/**
 * Defines what a template may read, and the key that shows whether a rendered file is current. Nothing in it differs between two renders.
 * Pure.
 */
import { createHash } from 'node:crypto'
import type { SyncTarget } from '../model/desired.ts'
import { canonicalJson } from '../../platform/text/json.ts'

/** One group of JSONPath expressions and new values for the files that a glob names. */
export type Patch = { file: string; set: Readonly<Record<string, string>> }

/** How a file is rendered from its blob. */
export type Recipe = { template: boolean; patches: readonly Patch[] }

/** The variables of templates, by their documented names (docs/reference/sync.md). */
export type TemplateContext = {
  gateway: { name: string }
  pod: { name: string; ordinal: number; labels: Readonly<Record<string, string>> }
  namespace: string
  ref: string
  commit: string
  vars: Readonly<Record<string, string>>
}

/** Returns what templates and patches of one gateway may read. */
export function templateContext({ commit, ref, profile, facts }: SyncTarget): TemplateContext {
  return {
    gateway: { name: facts.gatewayName },
    pod: { name: facts.podName, ordinal: facts.ordinal, labels: facts.podLabels },
    namespace: facts.namespace,
    ref,
    commit,
    vars: profile.vars,
  }
}

/** Equal keys mean equal output for equal input: recipe and the values of the variables that it reads. */
export function renderKey(recipe: Recipe, uses: readonly (readonly string[])[], context: TemplateContext): string {
  const values = uses.map((segments) => [segments, valueAt(context, segments) ?? null])
  return createHash('sha256')
    .update(canonicalJson({ engine: 1, recipe, values }))
    .digest('hex')
}

function valueAt(context: unknown, segments: readonly string[]): unknown {
  return segments.reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null && Object.hasOwn(value, name) ? (value as Record<string, unknown>)[name] : undefined,
    context,
  )
}
