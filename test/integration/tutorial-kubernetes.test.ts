/**
 * docs/tutorials/kubernetes.md: the API server accepts its objects. fleet.test.ts covers the commands and results of its steps.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { gatewaySyncCrd, syncReportCrd } from '../../infra/crd.ts'
import { textsIn } from '../support/page.ts'
import { temporaryFolder } from '../support/repository.ts'
import { openWorld } from '../support/world.ts'

void t.test('the API server accepts the gateway and the GatewaySync of the tutorial', { timeout: 600_000 }, async (t) => {
  const world = await openWorld(t)
  await world.apply([gatewaySyncCrd(), syncReportCrd()])
  await world.plane.kubectl(['wait', '--for=condition=Established', 'crd', '--all', '--timeout=60s'])
  const namespace = await world.namespace('plant')
  const folder = temporaryFolder(t, 'tutorial')
  const objects = [
    readFileSync(path.resolve(import.meta.dirname, '../../examples/simulator/gateway.yaml'), 'utf8'),
    ...textsIn('docs/tutorials/kubernetes.md', 'yaml').filter((text) => !text.includes('kind.x-k8s.io')),
  ]
  t.strictSame(
    objects.map((text) => (parse(text) as { kind: string }).kind),
    ['StatefulSet', 'GatewaySync'],
  )
  for (const [index, text] of objects.entries()) {
    const file = path.join(folder, `${index}.yaml`)
    writeFileSync(file, text.replaceAll('namespace: plant', `namespace: ${namespace}`))
    const { code, stderr } = await world.plane.kubectl(['apply', '--dry-run=server', '--validate=strict', '-f', file])
    t.equal(code, 0, stderr)
  }
})
