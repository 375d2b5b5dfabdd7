/**
 * Copies variables of the gateway's container to the agent's without reading a value: the kubelet expands them in both. Pure.
 */
import { agentVariables, copiedVariablePrefix, type EnvEntry } from '../settings/agent.ts'
import { modeInArgument } from '../api/mode.ts'
import type { Container } from './pod.ts'

/** The variable in which compose files and charts set the deployment mode. */
const modeVariable = 'DEPLOYMENT_MODE'

const reference = /\$\$|\$\(([A-Za-z_][A-Za-z0-9_.-]*)\)/g

/** Valid ConfigMap keys; the API server rejects a reference to another. */
const keyPattern = /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/

/** Maximum depth of references between variables. */
const maxDepth = 8

/** Lookups and entries for one pod. Each lookup reads all variables of the container, of which a pod may have tens of thousands. */
const maxCopies = 100

/** What was copied for one pod. `known`: whether there is a copy of a variable. */
export type Copies = { known: Map<string, boolean>; left: number }

export function createCopies(): Copies {
  return { known: new Map(), left: maxCopies }
}

/** Says that references were left as they are because there were too many; undefined: all were copied. */
export function copiesWarning({ left }: Copies): string | undefined {
  if (left >= 0) return undefined
  return `the gateway's deployment mode or data path needs more than ${maxCopies} variables; only the first are copied to the agent`
}

/** A text whose references name copies, and the entries that must precede it. */
export type Copied = { text: string; env: EnvEntry[] }

/** Rewrites `$(NAME)` to the agent's own copy of the gateway's variable; unknown variables, and those beyond the maximum, are unchanged. */
export function copyReferences(text: string, gateway: Container | undefined, copies: Copies, depth = 0): Copied {
  const env: EnvEntry[] = []
  const rewritten = text.replace(reference, (whole, name?: string) => {
    if (name === undefined || depth >= maxDepth) return whole
    const copy = `${copiedVariablePrefix}${name}`
    // Without this, variables that refer to each other twice would double the copies at each level.
    const known = copies.known.get(name)
    if (known !== undefined) return known ? `$(${copy})` : whole
    const entries = copyVariable(name, copy, gateway, copies, depth)
    copies.known.set(name, entries.length > 0)
    if (entries.length === 0) return whole
    env.push(...entries)
    return `$(${copy})`
  })
  return { text: rewritten, env }
}

/**
 * Returns the entries that give the agent, under another name, the value of a variable in the gateway's container: none without such a
 * variable. The last of its sources wins, as in the gateway; each is optional, so that a missing one never holds the pod back.
 */
function copyVariable(name: string, as: string, gateway: Container | undefined, copies: Copies, depth: number): EnvEntry[] {
  copies.left -= 1
  if (copies.left < 0) return []
  const own = gateway?.env?.findLast((entry) => entry.name === name)
  if (own?.valueFrom !== undefined) return [{ name: as, valueFrom: ofContainer(own.valueFrom, gateway?.name) }]
  if (own !== undefined) {
    const copied = copyReferences(own.value ?? '', gateway, copies, depth + 1)
    return [...copied.env, { name: as, value: copied.text }]
  }
  const sources: EnvEntry[] = []
  for (const { prefix = '', configMapRef, secretRef } of gateway?.envFrom ?? []) {
    const key = name.slice(prefix.length)
    if (!name.startsWith(prefix) || !keyPattern.test(key)) continue
    const [kind, source] = configMapRef?.name === undefined ? ['secretKeyRef', secretRef?.name] : ['configMapKeyRef', configMapRef.name]
    if (source === undefined) continue
    copies.left -= 1
    // Without its last sources the variable might have another value.
    if (copies.left < 0) return []
    sources.push({ name: as, valueFrom: { [kind]: { name: source, key, optional: true } } })
  }
  return sources
}

/** A reference to "this container's" resources must name the gateway's container when copied to another. */
function ofContainer(valueFrom: Record<string, unknown>, container: string | undefined): Record<string, unknown> {
  const field = valueFrom['resourceFieldRef']
  if (typeof field !== 'object' || field === null) return valueFrom
  return { resourceFieldRef: { containerName: container, ...field } }
}

/** Returns the variables from which the agent determines the deployment mode of the gateway, in the order in which they expand. */
export function modeVariables(gateway: Container | undefined, copies: Copies): EnvEntry[] {
  const words = [...(gateway?.command ?? []), ...(gateway?.args ?? [])]
  const argument = modeInArgument(words.join('\n'))
  const environment = copyVariable(modeVariable, agentVariables.modeEnvironment, gateway, copies, 0)
  if (argument === undefined) return withoutRepeats(environment)
  const { text, env } = copyReferences(argument, gateway, copies)
  const quoted = /\s/.test(text) ? `"${text}"` : text
  return withoutRepeats([...environment, ...env, { name: agentVariables.modeArgument, value: `-Dignition.config.mode=${quoted}` }])
}

/** Removes repeated entries, keeping the first: the same copy may be needed twice. */
export function withoutRepeats(entries: readonly EnvEntry[]): EnvEntry[] {
  const seen = new Set<string>()
  return entries.filter((entry) => {
    const text = JSON.stringify(entry)
    const isNew = !seen.has(text)
    seen.add(text)
    return isNew
  })
}
