/**
 * What an installation can be made of: the product as it stands in this checkout, and the one that came before it, taken from the history
 * of the repository. Neighbouring versions must work together, because agents live as long as their pods.
 */
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { App } from 'cdk8s'
import type { Test } from 'tap'
import { gatewaySyncCrd, syncReportCrd } from '../../infra/crd.ts'
import { OperatorChart } from '../../infra/operator-chart.ts'
import type { Manifest } from './manifest.ts'
import type { ValuesInput } from '../../infra/values.ts'
import type { ControllerSettingsInput } from '../../runtime/settings.ts'
import { imageEnvironment, imageFlags } from './image-flags.ts'
import { gitEnvironment, temporaryFolder } from './repository.ts'

const root = path.resolve(import.meta.dirname, '../..')

/**
 * What this checkout is compared with: at each release the tag of the one before takes its place. Until there is one it is the oldest commit
 * whose syncHash has the rule of today (`v1`), so that each of the two must take the other for up to date. What its values and its settings
 * do not know is left out of what the tests give it.
 */
const previous = {
  commit: '514223f7e4fe6c5c4f1df1922732d4b6014d048f',
  unknownSourceValues: ['allowedAddresses'],
  unknownSettings: ['shutdownDelaySeconds', 'notifications', 'statusPage'],
} as const

export type Release = {
  /** The manifests of an installation, as `cdk8s synth` writes them. */
  manifests(release: { name: string; namespace: string }, values: ValuesInput): Manifest[]
  crds(): object[]
  /** Settings of tests, without those that this release does not know. */
  settings(settings: ControllerSettingsInput): Partial<ControllerSettingsInput>
  /** Program and arguments that start the controller and an agent. */
  controller: readonly [string, ...string[]]
  agent: readonly [string, ...string[]]
}

/** The product of this checkout, run from its sources. */
export const presentRelease: Release = {
  manifests: (release, values) => new OperatorChart(new App(), 'operator', { release, values }).toJson() as Manifest[],
  crds: () => [gatewaySyncCrd(), syncReportCrd()],
  settings: (settings) => settings,
  ...programsOf(root),
}

/** The product of this checkout as its images run it: bundled into a folder, with their flags and environment. */
export function shippedRelease(folder: string): Release {
  execFileSync(process.execPath, [path.join(root, 'scripts/bundle.ts'), folder])
  const program = (name: 'controller' | 'agent'): [string, ...string[]] => {
    const environment = Object.entries(imageEnvironment(name)).map(([variable, value]) => `${variable}=${value}`)
    return ['env', ...environment, process.execPath, ...imageFlags(name), path.join(folder, `${name}.js`)]
  }
  return { ...presentRelease, controller: program('controller'), agent: program('agent') }
}

/**
 * The product of the release before, run from its sources with the packages of this checkout; undefined where the history lacks it (a clone
 * without its depth, an archive), and then the test has been skipped.
 */
export async function previousRelease(t: Pick<Test, 'teardown' | 'plan'>): Promise<Release | undefined> {
  const tree = path.join(temporaryFolder(t, 'previous-release'), 'tree')
  if (!unpackPrevious(tree, ['infra', 'imports', 'runtime', 'package.json'])) {
    t.plan(0, `the history of this clone lacks the previous release, ${previous.commit}`)
    return undefined
  }
  const chart = (await import(path.join(tree, 'infra/operator-chart.ts'))) as { OperatorChart: typeof OperatorChart }
  const crds = (await import(path.join(tree, 'infra/crd.ts'))) as { gatewaySyncCrd(): object; syncReportCrd(): object }
  return {
    manifests(release, values) {
      const known = { ...values, source: without(values.source ?? {}, previous.unknownSourceValues) }
      return new chart.OperatorChart(new App(), 'operator', { release, values: known }).toJson() as Manifest[]
    },
    crds: () => [crds.gatewaySyncCrd(), crds.syncReportCrd()],
    settings: (settings) => without(settings, previous.unknownSettings),
    ...programsOf(tree),
  }
}

/**
 * Writes the given files and folders of the release before into the new folder `tree`, with the packages of this checkout beside them.
 * False where the history lacks that release.
 */
export function unpackPrevious(tree: string, parts: readonly string[]): boolean {
  const git = (args: readonly string[]) =>
    spawnSync('git', ['-C', root, ...args], { env: gitEnvironment, maxBuffer: 256 * 1024 * 1024, timeout: 60_000 })
  if (git(['cat-file', '-e', `${previous.commit}^{commit}`]).status !== 0) return false
  mkdirSync(tree, { recursive: true })
  const archive = git(['archive', previous.commit, ...parts])
  const unpacked = spawnSync('tar', ['-x', '-C', tree], { input: archive.stdout, timeout: 60_000 })
  if (archive.status !== 0 || unpacked.status !== 0) throw new Error(`${previous.commit} cannot be unpacked: ${String(archive.stderr)}`)
  symlinkSync(path.join(root, 'node_modules'), path.join(tree, 'node_modules'))
  return true
}

function programsOf(folder: string): Pick<Release, 'controller' | 'agent'> {
  const programOf = (file: string): [string, string] => [process.execPath, path.join(folder, 'runtime', file)]
  return { controller: programOf('controller.ts'), agent: programOf('agent.ts') }
}

function without<Value extends object>(value: Value, keys: readonly string[]): Partial<Value> {
  return Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key))) as Partial<Value>
}
