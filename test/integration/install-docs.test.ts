/**
 * Runs the commands of docs/how-to/install.md as written, in the order of the page, with the real kubectl against a real API server.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { apiVersion } from '../../runtime/api/names.ts'
import { containsText, lacksText } from '../support/assertions.ts'
import { standInControllers } from '../support/controllers.ts'
import { follow, linesOf, notRun, openShell, programOf } from '../support/docs-shell.ts'
import { type Block, blocksOf } from '../support/page.ts'
import { applyForeignKinds } from '../support/foreign-kinds.ts'
import { requires } from '../support/requires.ts'
import { openWorld, type World } from '../support/world.ts'
import { agentRoleBinding } from '../../runtime/controller/lead/agent-bindings.ts'

const root = path.resolve(import.meta.dirname, '../..')
/** The sections with commands that run here, and those that another test covers. */
const followed = ['Option 1: cdk8s', 'Uninstall'] as const
const followedElsewhere = [/\bHelm\b/]
const page = blocksOf('docs/how-to/install.md').filter(({ language }) => language === 'sh')

void t.test('each command of docs/how-to/install.md is run by a test', async (t) => {
  const left = page
    .filter(({ section }) => !followed.some((name) => name === section) && !followedElsewhere.some((pattern) => pattern.test(section)))
    .flatMap(({ text }) => linesOf(text))
  t.strictSame(
    left.filter((line) => !notRun.has(programOf(line))),
    [],
  )
})

void t.test('the commands of docs/how-to/install.md have the described results', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'bash', 'diff')) return
  const world = await openWorld(t, { shared: false })
  const { plane } = world
  standInControllers(t, world)
  await applyForeignKinds(t, world)
  await plane.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s'])
  const shell = await openShell(t, plane.adminKubeconfig)
  const [plain, serverSide, ...valuesFiles] = commandsOf(followed[0])
  const [uninstall, dropDefinitions] = commandsOf(followed[1])

  await t.test('way 1: a plain apply, and a server-side apply over it', async (t) => {
    for (const block of [plain, serverSide]) await follow(t, shell, block)
    for (const name of readdirSync(path.join(shell.folder, 'dist'))) {
      t.ok(read(shell.folder, 'dist', name) === read(root, 'dist', name), `${name} is the committed one`)
    }
    const unchanged = await shell.run('kubectl diff --server-side -f dist/')
    t.equal(unchanged.code, 0, unchanged.output || 'nothing differs from what was applied')
  })
  await t.test('values from a file change the manifests as described', async (t) => {
    const [images = ''] = blocksOf('docs/how-to/install.md').flatMap(({ section, language, text }) =>
      section === 'Images' && language === 'yaml' ? [text] : [],
    )
    writeFileSync(path.join(shell.folder, 'my-values.yaml'), images)
    const desired = ['- name: registry\n', 'kind: PodDisruptionBudget']
    const lines = valuesFiles.flatMap(linesOf)
    t.equal(lines.length, desired.length)
    for (const [index, line] of lines.entries()) {
      await follow(t, shell, line)
      containsText(t, read(shell.folder, 'dist/operator.k8s.yaml'), desired[index] ?? '')
    }
    await follow(t, shell, 'npx cdk8s synth')
  })
  await t.test('uninstall removes every object, and deleting the CRDs removes every GatewaySync', async (t) => {
    await leaveTraces(world)
    const names = async (kinds: string): Promise<string> => (await shell.run(`kubectl get ${kinds} --all-namespaces --output name`)).output
    await follow(t, shell, uninstall)
    lacksText(t, await names('clusterrole,rolebinding,deployment,validatingadmissionpolicy,namespace'), 'cluster-sync')
    containsText(t, await names('gatewaysync'), 'gatewaysync.clustersync.io/plant', 'the first step keeps them')
    await follow(t, shell, dropDefinitions)
    lacksText(t, await names('crd'), 'clustersync.io')
  })
  await t.test('way 2: applied like Argo CD and Flux, a second apply changes nothing', async (t) => {
    const apply = 'kubectl apply --server-side --field-manager=gitops -f dist/'
    const rollout = linesOf(plain ?? '').find((line) => line.includes('rollout status'))
    const line = '{.kind} {.metadata.name} {.metadata.resourceVersion}{"\\n"}'
    const versions = async (): Promise<string[]> => {
      const { output } = await shell.run(`kubectl get -f dist/ --output jsonpath='{range .items[*]}${line}{end}'`)
      // The API server adds managed fields to a Namespace on the second apply, whatever is applied.
      return linesOf(output).filter((text) => !text.startsWith('Namespace '))
    }
    for (const block of [apply, rollout]) await follow(t, shell, block)
    const before = await versions()
    t.match(before.join('\n'), /^Deployment cluster-sync-operator \d+$/m)
    await follow(t, shell, apply)
    t.strictSame(await versions(), before, 'a second time changes nothing')
  })
})

function commandsOf(section: string): string[] {
  return page.filter((block: Block) => block.section === section).map(({ text }) => text)
}

function read(...parts: string[]): string {
  return readFileSync(path.join(...parts), 'utf8')
}

/** The objects that a used installation leaves: a GatewaySync, and the binding of its agents. */
async function leaveTraces({ apply, namespace }: World): Promise<void> {
  const where = await namespace('plant')
  const spec = {
    git: { repo: 'https://git.example.com/plant.git', ref: 'main' },
    sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
  }
  const pod = { namespace: where, serviceAccount: 'gateway', terminating: false } as Parameters<typeof agentRoleBinding>[2][number]
  await apply([
    { apiVersion, kind: 'GatewaySync', metadata: { namespace: where, name: 'plant' }, spec },
    agentRoleBinding(where, 'cluster-sync-operator-agent', [pod]) ?? {},
  ])
}
