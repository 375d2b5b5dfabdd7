/**
 * `npx cdk8s synth`: writes the CRDs and the operator, one file each, to dist/ or to the folder that `--output` names. Values come from
 * infra/install.ts, or from the file that CLUSTER_SYNC_VALUES names (YAML, JSON, or TypeScript that exports `values`).
 */
import { readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { App } from 'cdk8s'
import { parse } from 'yaml'
import { writeChart } from './chart/files.ts'
import { createCharts } from './charts.ts'
import { install } from './install.ts'
import { publishManifests } from './publish.ts'
import type { ValuesInput } from './values.ts'

/** The committed folder, which also holds the chart. */
const dist = 'dist'

const causes: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  ERR_MODULE_NOT_FOUND: 'it does not exist, or a module that it imports does not',
}

/** The output folder in cdk8s.yaml, which cdk8s-cli empties before it starts this app. */
const scratch = 'build/synth'

try {
  const outdir = process.env['CDK8S_OUTDIR'] ?? scratch
  const publishing = path.resolve(outdir) === path.resolve(scratch)
  if (publishing) rmSync(scratch, { recursive: true, force: true })
  // cdk8s-cli has emptied dist/, so write the chart again. It does not depend on the values, so do it before they are read.
  if (path.resolve(outdir) === path.resolve(dist)) writeChart(path.join(dist, 'chart'))
  const app = new App({ outdir })
  createCharts(app, { ...install, values: await readValues(process.env['CLUSTER_SYNC_VALUES']) })
  app.synth()
  if (publishing) for (const file of publishManifests(scratch, dist)) report(`wrote ${file}`)
} catch (error) {
  report(error instanceof Error ? error.message : String(error))
  process.exitCode = 2
}

/** cdk8s-cli discards standard output. */
function report(line: string): void {
  process.stderr.write(`${line}\n`)
}

/** Throws an Error that names the file and what is wrong with it. */
async function readValues(file: string | undefined): Promise<ValuesInput> {
  if (file === undefined || file === '') return install.values ?? {}
  try {
    return /\.[mc]?[jt]s$/.test(file) ? await exported(file) : ((parse(readFileSync(file, 'utf8')) ?? {}) as ValuesInput)
  } catch (error) {
    throw new Error(`CLUSTER_SYNC_VALUES: ${file} cannot be used: ${whyOf(error)}`, { cause: error })
  }
}

function whyOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return ('code' in error ? causes[String(error.code)] : undefined) ?? error.message
}

async function exported(file: string): Promise<ValuesInput> {
  const module = (await import(pathToFileURL(path.resolve(file)).href)) as { values?: ValuesInput }
  if (module.values === undefined) throw new Error('it exports no "values"')
  return module.values
}
