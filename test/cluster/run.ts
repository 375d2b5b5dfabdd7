/**
 * `npm run cluster`: a control plane for hands-on work, until Ctrl-C.
 */
import { startControlPlane } from './control-plane.ts'

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
