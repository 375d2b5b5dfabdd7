/**
 * The app of docs/tutorials/cdk8s.md, applied to a new cluster with the commands of the page, in their order, with the real kubectl.
 */
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { standInControllers } from '../support/controllers.ts'
import { follow, linesOf, openShell } from '../support/docs-shell.ts'
import { textsIn } from '../support/page.ts'
import { applyForeignKinds } from '../support/foreign-kinds.ts'
import { requires } from '../support/requires.ts'
import { openWorld } from '../support/world.ts'

const page = 'docs/tutorials/cdk8s.md'
const root = path.resolve(import.meta.dirname, '../..')
/** What the package has under these names; test/infra/package.slow.test.ts imports the package itself. */
const sources: Readonly<Record<string, string>> = {
  'imports/clustersync.io': 'imports/clustersync.io.js',
  'profiles/production': 'examples/production.ts',
  infra: 'infra/operator-chart.ts',
}

void t.test('the commands of the cdk8s tutorial create every object and the key of the receiver', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'bash', 'openssl')) return
  const world = await openWorld(t, { shared: false })
  standInControllers(t, world)
  await applyForeignKinds(t, world)
  await world.plane.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s'])
  const shell = await openShell(t, world.plane.adminKubeconfig)
  const app = textsIn(page, 'ts')
    .join('')
    .replaceAll(/'cluster-sync-operator\/([^']+)'/g, (_, name: string) => `'${path.join(root, sources[name] ?? name)}'`)
  writeFileSync(path.join(shell.folder, 'main.ts'), app)
  await follow(t, shell, 'CDK8S_OUTDIR=dist node main.ts')

  const [commands] = textsIn(page, 'sh').filter((text) => text.includes('kubectl apply'))
  const applied = linesOf(commands ?? '').filter((line) => !line.startsWith('kubectl wait gatewaysync'))
  await follow(t, shell, applied.join('\n'))
  const outputOf = async (command: string): Promise<string> => (await shell.run(command)).output.trim()
  t.equal(await outputOf('kubectl get gatewaysync --all-namespaces --output name'), 'gatewaysync.clustersync.io/plant')
  const mounted = '{.spec.template.spec.volumes[?(@.secret.secretName=="push")].secret.items[0].key}'
  const key = await outputOf(`kubectl get deployment --namespace cluster-sync --output jsonpath='{range .items[*]}${mounted}{end}'`)
  t.equal(key, 'webhook-secret')
  t.match(await outputOf(`kubectl get secret push --namespace cluster-sync --output jsonpath='{.data.${key}}'`), /^\S+$/)
})
