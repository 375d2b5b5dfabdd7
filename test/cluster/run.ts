/**
 * `npm run cluster`: a control plane for manual work, until Ctrl-C. With `--node` a cluster with a node, DNS and cert-manager, and a shell
 * in it; the cluster stops when the shell exits.
 */
import { parseArgs } from 'node:util'
import { startControlPlane } from './control-plane.ts'
import { whyNoNode } from './node/probe.ts'
import { startNode } from './node/start.ts'

const { values } = parseArgs({ options: { node: { type: 'boolean', default: false } } })
if (values.node) await shellOnNode()
else await controlPlane()

async function shellOnNode(): Promise<void> {
  const why = await whyNoNode({ mayBuild: true })
  if (why !== undefined) {
    process.stderr.write(`no node can run here: ${why}\n`)
    process.exitCode = 1
    return
  }
  const startedMs = performance.now()
  const node = await startNode({ say: (line) => void process.stdout.write(`${line}\n`) })
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
  process.stdout.write(
    `A node runs since ${seconds} s. This shell is in it, with kubectl; its logs are in ${node.folder}. The node ends with the shell.\n`,
  )
  const shell = node.inside(process.env['SHELL'] ?? 'bash', [], { env: { ...process.env, KUBECONFIG: node.ready.adminKubeconfig } })
  // Ctrl-C goes to the program in the shell.
  process.on('SIGINT', () => undefined)
  process.once('SIGTERM', () => shell.kill())
  await new Promise((resolve) => shell.once('exit', resolve))
  await node.stop()
}

async function controlPlane(): Promise<void> {
  const plane = await startControlPlane()
  process.stdout.write(
    `A control plane runs at ${plane.url}. In another shell:\n\n  export KUBECONFIG=${plane.adminKubeconfig}\n\nCtrl-C ends it.\n`,
  )
  const forever = setInterval(() => undefined, 60_000)
  for (const name of ['SIGINT', 'SIGTERM'] as const) {
    process.once(name, () => {
      clearInterval(forever)
      void plane.stop()
    })
  }
}
