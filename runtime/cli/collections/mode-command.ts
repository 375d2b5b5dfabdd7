/**
 * Creates the folder of a deployment mode, and compares gateways with two modes.
 */
import { foldName, visible, parseRelativePath } from '../../api/values.ts'
import { readTree } from '../../validation/run/check-root.ts'
import { readResources, type ResourceContent } from '../../validation/run/read-resources.ts'
import { type Effective, effectiveSet, isUserMode, type CollectionsByName, reservedNames } from '../../validation/model/inheritance.ts'
import { Fault } from '../../platform/fault.ts'
import { type Input, locate, oneRoot, openInput } from './collections-input.ts'
import { modesOf } from './explain-text.ts'
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { nameProblem } from '../../validation/rules/about-placement.ts'
import { modeManifest } from '../../validation/model/tree.ts'
import { type JsonDifference, differences } from '../../sync/plan/shown-diff.ts'

/** `a` and `b` are the collections that provide the resource; undefined if a mode does not have it. */
export type ResourceChange = { resource: string; a: string | undefined; b: string | undefined; files: FileChange[] }
/** `file` is relative to the resource; `keys` are the differences in its JSON, empty if one side lacks the file or it is not JSON. */
export type FileChange = { file: string; keys: JsonDifference[] }

/** The resources that differ between two modes, each with the files and keys that differ. */
export async function diffModes(
  { listing, files }: Pick<Input, 'listing' | 'files'>,
  root: string,
  [a, b]: readonly [string, string],
  signal: AbortSignal,
): Promise<ResourceChange[]> {
  const facts = await readTree(listing, { root, files }, signal)
  for (const mode of [a, b]) {
    if (!isUserMode(mode) || facts.family.byName.has(foldName(mode))) continue
    throw new Fault('InvalidConfiguration', `there is no mode "${mode}" in ${root || '.'}; ${modesOf(facts.family)}`)
  }
  const [left, right] = [effectiveSet(facts.family, a), effectiveSet(facts.family, b)]
  const changes: ResourceChange[] = []
  const pairs: [Effective, Effective][] = []
  for (const key of [...new Set([...left.keys(), ...right.keys()])].toSorted()) {
    const [one, other] = [left.get(key), right.get(key)]
    if (one !== undefined && other !== undefined) {
      if (one.resource !== other.resource) pairs.push([one, other])
    } else changes.push({ resource: (one ?? other)?.resource.key ?? key, a: one?.collection.name, b: other?.collection.name, files: [] })
  }
  // Read in pairs, so that at most two resources are in memory.
  let first: ResourceContent | undefined
  await readResources(
    listing,
    pairs.flat(),
    (content) => {
      if (first === undefined) {
        first = content
        return
      }
      const files = fileChanges(first, content)
      if (files.length > 0) {
        changes.push({ resource: content.resource.key, a: first.collection.name, b: content.collection.name, files })
      }
      first = undefined
    },
    signal,
  )
  return changes.toSorted((one, other) => (one.resource < other.resource ? -1 : 1))
}

function fileChanges(a: ResourceContent, b: ResourceContent): FileChange[] {
  const names = [...new Set([...a.hashes.keys(), ...b.hashes.keys()])].toSorted()
  return names
    .filter((name) => a.hashes.get(name) !== b.hashes.get(name))
    .map((file) => ({ file, keys: a.json.has(file) && b.json.has(file) ? differences(a.json.get(file), b.json.get(file)) : [] }))
    .filter(({ file, keys }) => keys.length > 0 || !(a.json.has(file) && b.json.has(file)))
}

/** Formats the differences as lines of text; values of secrets are masked. */
export function diffText(a: string, b: string, changes: readonly ResourceChange[]): string {
  if (changes.length === 0) return `gateways with the modes "${a}" and "${b}" would have the same resources`
  return visible(changes.flatMap((change) => changeLines(a, b, change)).join('\n'))
}

/** A mode, with the collection that provides the resource if it is another one. */
function from(mode: string, collection: string | undefined): string {
  return collection === undefined || collection === mode ? mode : `${mode} (${collection})`
}

function changeLines(a: string, b: string, change: ResourceChange): string[] {
  if (change.a === undefined) return [`+ ${change.resource}  only ${from(b, change.b)}`]
  if (change.b === undefined) return [`- ${change.resource}  only ${from(a, change.a)}`]
  const lines = [`~ ${change.resource}  ${from(a, change.a)}, ${from(b, change.b)}`]
  for (const { file, keys } of change.files) {
    lines.push(`    ${file}${keys.length === 0 ? ': the content differs' : ''}`)
    for (const { at, a: one, b: other } of keys) lines.push(`      ${at}: ${one ?? '(absent)'} -> ${other ?? '(absent)'}`)
  }
  return lines
}

/** `path` is in the repository, `root` selects one of several collections roots, and `from` names the mode to copy. */
export type NewModeOptions = { path: string; root?: string; title?: string; from?: string }

/** Returns the output. Throws InvalidConfiguration. */
export async function newMode(name: string, options: NewModeOptions, signal: AbortSignal): Promise<string> {
  const problem = name === '' ? 'is empty' : name.includes('/') ? 'contains a /' : nameProblem(name)
  if (problem !== undefined) throw new Fault('InvalidConfiguration', `the name "${name}" ${problem}`)
  if (reservedNames.has(foldName(name))) throw new Fault('InvalidConfiguration', `"${name}" is a reserved name`)
  const input = await openInput(options.path, undefined, signal)
  const root = oneRoot(input, options.root)
  const { top } = locate(path.resolve(options.path))
  const facts = await readTree(input.listing, { root, files: input.files }, signal)
  const folder = path.join(top, root, name)
  const taken = namesIn(path.join(top, root)).find((other) => foldName(other) === foldName(name))
  if (taken !== undefined) throw new Fault('InvalidConfiguration', `${path.join(root, taken)} already exists`)
  const base = options.from === undefined ? undefined : baseOf(facts.family, options.from)
  const manifest = { title: options.title ?? name, description: '', enabled: true, inheritable: true, parent: base?.parent ?? 'core' }
  const aside = path.join(top, root, `.${name}.tmp`)
  rmSync(aside, { recursive: true, force: true })
  try {
    if (base === undefined) mkdirSync(aside, { recursive: true })
    else cpSync(path.join(top, root, base.name), aside, { recursive: true, filter: (file) => !lstatSync(file).isSymbolicLink() })
    mkdirSync(path.join(aside, 'ignition'), { recursive: true })
    if (readdirSync(path.join(aside, 'ignition')).length === 0) writeFileSync(path.join(aside, 'ignition', '.gitkeep'), '')
    writeFileSync(path.join(aside, modeManifest), `${JSON.stringify(manifest, undefined, 2)}\n`)
    renameSync(aside, folder)
  } finally {
    rmSync(aside, { recursive: true, force: true })
  }
  return remainingSteps(name, parseRelativePath(path.posix.join(root, name)), base?.name, options)
}

function namesIn(folder: string): string[] {
  return existsSync(folder) ? readdirSync(folder) : []
}

function baseOf(family: CollectionsByName, from: string): { name: string; parent: string } {
  const { byName } = family
  const base = byName.get(foldName(from))
  if (base === undefined || foldName(from) === 'local') {
    throw new Fault('InvalidConfiguration', `there is no mode "${from}" to copy; ${modesOf(family)}`)
  }
  const parent = base.mode?.kind === 'ok' ? base.mode.manifest.parent : 'core'
  return { name: base.collection.name, parent: reservedNames.has(foldName(from)) ? 'core' : parent }
}

/** Quotes a text for a shell. */
function shellWord(text: string): string {
  return /^[\w./=-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`
}

/** The steps that remain to use the mode. */
function remainingSteps(name: string, folder: string, from: string | undefined, { path: where, root }: NewModeOptions): string {
  const inRoot = root === undefined ? [] : ['--root', root]
  const lint = ['lint', ...(where === '.' ? [] : [where]), ...inRoot]
  const diff = ['mode', 'diff', from ?? '', name, ...(where === '.' ? [] : ['--path', where]), ...inRoot]
  const command = ['cluster-sync', ...(from === undefined ? lint : diff)].map(shellWord).join(' ')
  const first =
    from === undefined
      ? `put the resources of this mode below ${folder}/<module>/<type>/<name>, and check them with: ${command}`
      : `change what differs from ${from}, such as connections: everything was copied; to compare, run: ${command}`
  return [
    `created ${folder}`,
    'Next steps:',
    `  1. ${first}`,
    '  2. commit and push',
    `  3. set ${shellWord(`-Dignition.config.mode=${name}`)} for the gateway: after -- in the arguments of its container, as gateway.deploymentMode`,
    `     in the values of the Ignition Helm chart, or as DEPLOYMENT_MODE=${shellWord(name)} if the arguments use this variable`,
    '  4. restart the gateway, because it reads its mode when it starts',
  ].join('\n')
}
