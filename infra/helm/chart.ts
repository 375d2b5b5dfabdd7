/**
 * The packaged chart: templates from the same constructs as the synthesised manifests, with Helm's values in place of known ones. Pure.
 */
import { App, Chart, Yaml } from 'cdk8s'
import manifest from '../../package.json' with { type: 'json' }
import { impossible, impossibleRelease } from '../values/combinations.ts'
import { concernsIn, templatesOf } from '../constructs/concerns.ts'
import { installationOf } from '../constructs/installation.ts'
import { gatewaySyncCrd, syncReportCrd } from '../crd.ts'
import type { Names } from '../names.ts'
import { withoutEffect } from '../values/without-effect.ts'
import type { Values } from '../values.ts'
import { either, text } from './combinators.ts'
import { type Emitted, emitDocuments, emitNotes, emitRefusal } from './emit.ts'
import { Expression, type Live, type Value } from './expression.ts'
import { liveValues } from './live-values.ts'
import { documentsOf, type TemplateObject } from './template-object.ts'
import { valuesSchemaJson, valuesYaml } from './values-files.ts'

const version = new Expression<string>('$.Chart.AppVersion')

/** `path` is relative to the chart. */
export type ChartFile = { path: string; content: string }

const release = {
  name: new Expression<string>('$.Release.Name'),
  namespace: new Expression<string>('$.Release.Namespace'),
  service: new Expression<string>('$.Release.Service'),
}

/** Every file of the chart, by its path in it. */
export function chartFiles(): ChartFile[] {
  return [
    { path: 'Chart.yaml', content: Yaml.stringify(chartDescription()) },
    { path: 'values.yaml', content: valuesYaml() },
    { path: 'values.schema.json', content: valuesSchemaJson() },
    ...[gatewaySyncCrd(), syncReportCrd()].map((crd) => ({ path: `crds/${crd.metadata.name}.yaml`, content: Yaml.stringify(crd) })),
    ...templates(),
  ]
}

function chartDescription(): object {
  const { name, description, version } = manifest
  return { apiVersion: 'v2', name, description, type: 'application', version, appVersion: version, kubeVersion: '>=1.30.0-0' }
}

function templates(): ChartFile[] {
  const values = liveValues()
  const installation = installationOf(release, values, version)
  const made = Object.entries(templatesOf(concernsIn(new Chart(new App(), 'chart'), installation)))
  const emitted: [name: string, Emitted][] = [
    ...made.map(([name, objects]): [string, Emitted] => [name, emitDocuments(documentsOf(objects as TemplateObject[]))]),
    ['combinations', emitRefusal([...impossibleRelease(release), ...impossible(values)])],
  ]
  const printed = emitNotes(notes(installation.names, values), withoutEffect(values))
  const files = emitted.map(([name, { text }]) => ({ path: `templates/${name}.yaml`, content: text }))
  return [
    ...files,
    { path: 'templates/NOTES.txt', content: printed.text },
    { path: 'templates/_helpers.tpl', content: helpers([printed.definitions, ...emitted.map(([, { definitions }]) => definitions)]) },
  ]
}

/** What one does next, whatever was installed. */
function notes({ fullname, namespace }: Names, { source: { persistence } }: Live<Values>): Value<string>[] {
  const kind = either(persistence.enabled, 'statefulset', 'deployment')
  return [
    text`The controller of ${fullname} starts in the namespace ${namespace}:`,
    text`  kubectl --namespace ${namespace} rollout status ${kind}/${fullname}`,
    'Helm installs the definitions of GatewaySync and SyncReport once. Before an upgrade, apply those of the new chart:',
    '  kubectl apply --server-side --force-conflicts --filename crds/',
  ]
}

function helpers(all: readonly Emitted['definitions'][]): string {
  const definitions = Object.entries(Object.assign({}, ...all) as Emitted['definitions']).toSorted(([a], [b]) => (a < b ? -1 : 1))
  return definitions.map(([name, body]) => `{{- define "${name}" }}\n${body}\n{{- end }}\n`).join('\n')
}
