/**
 * The releases that an installation can use: the product of this checkout, and the previous release from the history of the repository.
 * Adjacent versions must work together, because agents live as long as their pods.
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
import type { ControllerSettingsInput } from '../../runtime/settings/controller.ts'
import { imageEnvironment, imageFlags } from './image-flags.ts'
import { gitEnvironment, temporaryFolder } from './repository.ts'

const root = path.resolve(import.meta.dirname, '../..')

/**
 * The release to compare with: the tag of the previous release. Until one exists, the last commit that changed fields or values of the API.
 * Tests omit values and settings that it does not know.
 */
const previous = {
  commit: '96f9cad11a0ac4d73a8ad51f1a713f63144a221a',
  unknownSourceValues: [],
  unknownSettings: [],
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
  manifests: (release, values) => new OperatorChart(new App(), 'operator', { release, values, onWarning: () => {} }).toJson() as Manifest[],
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
 * The previous release, run from its sources with the packages of this checkout; undefined if the history lacks it (a shallow clone, an
 * archive), and then the test has been skipped.
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
 * Writes the given files and folders of the previous release into the new folder `tree`, beside the packages of this checkout. False if the
 * history lacks that release.
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
