/**
 * docs/how-to/install.md is correct: its values are accepted, its names and folders exist. Its commands run in test/integration.
 */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { satisfies } from 'semver'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { checkValues } from '../../infra/values/check.ts'
import { install } from '../../infra/install.ts'
import { chartName } from '../../infra/names.ts'
import { version } from '../../runtime/platform/version.ts'
import { containsText } from '../support/assertions.ts'
import { textsIn } from '../support/page.ts'
import { agentRoleBinding } from '../../runtime/controller/lead/agent-bindings.ts'

const root = path.resolve(import.meta.dirname, '../..')
const page = readFileSync(path.join(root, 'docs/how-to/install.md'), 'utf8')

const blocks = (language: string): string[] => textsIn('docs/how-to/install.md', language)

function yaml(text: string): unknown[] {
  return parseAllDocuments(text, { strict: true }).map((document) => {
    if (document.errors.length > 0) throw document.errors[0]
    return document.toJS() as unknown
  })
}

void t.test('every block of values is accepted', async (t) => {
  const values = blocks('yaml').filter((text) => text.startsWith('# values\n'))
  t.equal(values.length, 4)
  const ofMeshes = textsIn('docs/how-to/service-meshes.md', 'yaml')
  t.equal(ofMeshes.length, 1)
  for (const text of [...values, ...ofMeshes]) t.doesNotThrow(() => checkValues(yaml(text)[0]), text)
})

void t.test('the install page and the README show how to build the images before any command that installs them', async (t) => {
  for (const file of ['README.md', 'docs/how-to/install.md']) {
    const text = readFileSync(path.join(root, file), 'utf8')
    const [build = -1, ...installs] = [
      /^npm run images -- --push/m,
      /^(?:\S+ )?npx cdk8s synth/m,
      /^kubectl apply -f dist/m,
      /^helm install/m,
    ].map((command) => text.search(command))
    t.ok(build > 0 && installs.every((install) => install > build), file)
  }
})

void t.test('every other YAML block is an object, and its manifests path is dist/', async (t) => {
  const objects = blocks('yaml')
    .filter((text) => !text.startsWith('# values\n'))
    .flatMap(yaml) as { kind: string; spec: { path?: string; source?: { path: string } } }[]
  t.strictSame(
    objects.map(({ kind, spec }) => [kind, path.normalize(spec.path ?? spec.source?.path ?? '')]),
    [
      ['Application', 'dist'],
      ['GitRepository', '.'],
      ['Kustomization', 'dist'],
      ['OCIRepository', '.'],
      ['HelmRelease', '.'],
    ],
  )
})

void t.test('the HelmRelease installs the chart that a release pushes, with valid values and current CRDs', async (t) => {
  type Source = { metadata: object; spec: { url: string; ref: { semver: string }; layerSelector: { mediaType: string } } }
  type Release = {
    metadata: object
    spec: Record<'releaseName' | 'targetNamespace', string> &
      Record<'install' | 'upgrade', { crds: string }> & { chartRef: object; values: object }
  }
  const [text = ''] = blocks('yaml').filter((block) => block.includes('kind: HelmRelease'))
  const [source, release] = yaml(text) as [Source, Release]
  t.match(source.spec.url, new RegExp(`^oci://[^ ]+/charts/${chartName}$`))
  t.ok(satisfies(version, source.spec.ref.semver), version)
  t.equal(source.spec.layerSelector.mediaType, 'application/vnd.cncf.helm.chart.content.v1.tar+gzip')
  t.strictSame(release.metadata, source.metadata)
  t.strictSame(release.spec.chartRef, { kind: 'OCIRepository', name: chartName })
  t.strictSame([release.spec.releaseName, release.spec.targetNamespace], [install.release.name, install.release.namespace])
  t.strictSame([release.spec.install.crds, release.spec.upgrade.crds], ['CreateReplace', 'CreateReplace'])
  t.doesNotThrow(() => checkValues(release.spec.values))
})

void t.test('the Argo CD application has the namespace of the release and ignores existing objects only', async (t) => {
  type Ignored = { group: string; kind: string }
  type Application = { spec: { destination: { namespace: string }; ignoreDifferences: Ignored[] } }
  const [text = ''] = blocks('yaml').filter((block) => block.includes('kind: Application'))
  const { spec } = yaml(text)[0] as Application
  t.equal(spec.destination.namespace, install.release.namespace)
  const manifests = yaml(readFileSync(path.join(root, 'dist/operator.k8s.yaml'), 'utf8')) as { apiVersion: string; kind: string }[]
  for (const { group, kind } of spec.ignoreDifferences) {
    t.ok(
      manifests.some((manifest) => manifest.kind === kind && manifest.apiVersion.startsWith(`${group}/`)),
      kind,
    )
  }
})

void t.test('the files, scripts and objects in the commands exist', async (t) => {
  const commands = blocks('sh').join('')
  for (const [, file = ''] of commands.matchAll(/-f ([^\s-]\S*)/g)) t.ok(existsSync(path.join(root, file)), file)
  const { scripts } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> }
  for (const [, name = ''] of page.matchAll(/npm run ([\w:]+)/g)) t.ok(name in scripts, name)
  containsText(t, commands, `-n ${install.release.namespace} rollout status deployment/${install.release.name}`)
  const pod = { namespace: 'plant', serviceAccount: 'gateway', terminating: false } as Parameters<typeof agentRoleBinding>[2][number]
  const [label] = Object.entries(agentRoleBinding('plant', 'role', [pod])?.metadata.labels ?? {})
  containsText(t, commands, `--selector ${label?.join('=')}`)
})
