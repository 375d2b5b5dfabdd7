/**
 * `npx cdk8s synth`: writes dist/, the CRDs and the operator in one file each. Values come from infra/install.ts, or from the file that
 * CLUSTER_SYNC_VALUES names (YAML, JSON, or TypeScript that exports `values`).
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { App } from 'cdk8s'
import { parse } from 'yaml'
import { install } from './install.ts'
import { CrdChart, OperatorChart } from './operator-chart.ts'
import type { ValuesInput } from './values.ts'

try {
  const app = new App({ outdir: process.env['CDK8S_OUTDIR'] ?? 'dist' })
  new CrdChart(app, 'crds')
  const operator = new OperatorChart(app, 'operator', { ...install, values: await readValues(process.env['CLUSTER_SYNC_VALUES']) })
  for (const warning of operator.warnings) process.stderr.write(`warning: ${warning}\n`)
  app.synth()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 2
}

async function readValues(file: string | undefined): Promise<ValuesInput> {
  if (file === undefined || file === '') return install.values ?? {}
  if (/\.[mc]?[jt]s$/.test(file)) {
    const module = (await import(pathToFileURL(path.resolve(file)).href)) as { values?: ValuesInput }
    if (module.values === undefined) throw new Error(`${file}: exports no "values"`)
    return module.values
  }
  return (parse(readFileSync(file, 'utf8')) ?? {}) as ValuesInput
}
