/**
 * The kinds of cert-manager and of the monitoring operator for an API server: their real CRDs, which check every field, if they are beside
 * the project, otherwise CRDs that accept any field.
 */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { stringify } from 'yaml'
import { temporaryFolder } from './repository.ts'
import { sharedFolder } from './requires.ts'
import type { World } from './world.ts'

const kinds = [
  { group: 'cert-manager.io', kind: 'Certificate' },
  { group: 'cert-manager.io', kind: 'Issuer' },
  { group: 'monitoring.coreos.com', kind: 'PodMonitor' },
  { group: 'monitoring.coreos.com', kind: 'PrometheusRule' },
  { group: 'monitoring.coreos.com', kind: 'ServiceMonitor' },
]

/** Installs them in the API server of a world. */
export async function applyForeignKinds(t: Test, { plane }: World): Promise<void> {
  const folder = definitionsFolder(t)
  const files = readdirSync(folder).filter((name) => name.endsWith('.yaml'))
  const applied = await plane.kubectl(['apply', '--server-side', ...files.flatMap((file) => ['-f', path.join(folder, file)])])
  t.equal(applied.code, 0, applied.stderr)
}

function definitionsFolder(t: Test): string {
  const real = path.join(sharedFolder, 'crds')
  if (existsSync(real)) return real
  t.comment('the foreign kinds take any field: their real definitions are not beside the project')
  const folder = path.join(temporaryFolder(t, 'foreign-kinds'), 'crds')
  mkdirSync(folder)
  for (const { group, kind } of kinds) writeFileSync(path.join(folder, `${group}_${kind}.yaml`), stringify(definition(group, kind)))
  return folder
}

function definition(group: string, kind: string): object {
  const singular = kind.toLowerCase()
  const anything = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
  const schema = { openAPIV3Schema: { type: 'object', properties: { spec: anything, status: anything } } }
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${singular}s.${group}` },
    spec: {
      group,
      names: { kind, listKind: `${kind}List`, plural: `${singular}s`, singular },
      scope: 'Namespaced',
      versions: [{ name: 'v1', served: true, storage: true, schema, subresources: { status: {} } }],
    },
  }
}
