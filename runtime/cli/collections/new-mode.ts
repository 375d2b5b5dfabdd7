/**
 * Creates the folder of a deployment mode, under a temporary name first, so that a collections root never contains an incomplete one.
 */
import { cpSync, existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { nameProblem } from '../../validation/rules/about-placement.ts'
import { readTree } from '../../validation/run/check-root.ts'
import { type CollectionsByName, reservedNames } from '../../validation/model/inheritance.ts'
import { modeManifest } from '../../validation/model/tree.ts'
import { Fault } from '../../platform/fault.ts'
import { foldName, parseRelativePath } from '../../api/values.ts'
import { locate, oneRoot, openInput } from './collections-input.ts'
import { modesOf } from './explain-mode.ts'

/** `path` is in the repository, `root` selects one of several collections roots, and `from` names the mode to copy. */
export type NewModeOptions = { path: string; root?: string; title?: string; from?: string }

/** Returns the output. Throws InvalidConfiguration. */
export async function newMode(name: string, options: NewModeOptions, signal: AbortSignal): Promise<string> {
  const problem = name === '' ? 'is empty' : name.includes('/') ? 'contains a /' : nameProblem(name)
  if (problem !== undefined) throw new Fault('InvalidConfiguration', `the name "${name}" ${problem}`)
  if (reservedNames.has(foldName(name))) throw new Fault('InvalidConfiguration', `"${name}" is a reserved collection`)
  const input = await openInput(options.path, undefined, signal)
  const root = oneRoot(input, options.root)
  const { top } = locate(path.resolve(options.path))
  const { facts } = await readTree(input.listing, { root, files: input.files }, signal)
  const folder = path.join(top, root, name)
  const taken = namesIn(path.join(top, root)).find((other) => foldName(other) === foldName(name))
  if (taken !== undefined) throw new Fault('InvalidConfiguration', `${path.join(root, taken)} exists already`)
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

/** The remaining steps of the specification's "Setting up a deployment mode". */
function remainingSteps(name: string, folder: string, from: string | undefined, { path: where, root }: NewModeOptions): string {
  const inRoot = root === undefined ? [] : ['--root', root]
  const lint = ['lint', ...(where === '.' ? [] : [where]), ...inRoot]
  const diff = ['mode', 'diff', from ?? '', name, ...(where === '.' ? [] : ['--path', where]), ...inRoot]
  const command = ['cluster-sync', ...(from === undefined ? lint : diff)].map(shellWord).join(' ')
  const first =
    from === undefined
      ? `put the resources of this mode below ${folder}/<module>/<type>/<name>, check with: ${command}`
      : `change what differs from ${from}, such as connections: everything was copied; compare with: ${command}`
  return [
    `created ${folder}`,
    'Next steps:',
    `  1. ${first}`,
    '  2. commit and push',
    `  3. start the gateway with ${shellWord(`-Dignition.config.mode=${name}`)}: after -- in the arguments of its container, as gateway.deploymentMode`,
    `     in the values of Ignition's own Helm chart, or DEPLOYMENT_MODE=${shellWord(name)} if the argument is expanded from it`,
    '  4. restart the gateway, because it reads its mode when it starts',
  ].join('\n')
}
