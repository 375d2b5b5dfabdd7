/**
 * Tests that files of a deployment mode are not deleted while the mode is unknown.
 */
import path from 'node:path'
import t from 'tap'
import { startSimulator } from '../../../../examples/simulator/simulator.ts'
import { differences, listTree } from '../../../../scripts/quickstart/check.ts'
import { matchObject } from '../../../support/assertions.ts'
import { requires } from '../../../support/requires.ts'
import { runCli, startCli } from '../../../support/run-cli.ts'
import { setUpRun, writeGatewaySync } from '../../../support/standalone-run.ts'
import { until } from '../../../support/world.ts'

void t.test('a gateway whose deployment mode becomes unknown keeps the files of the mode', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'mode')
  const mode = (parent: string): string => JSON.stringify({ title: 'x', description: '', enabled: true, inheritable: true, parent })
  const commit = repository.commit({
    'resources/core/config-mode.json': mode('external'),
    'resources/prod/config-mode.json': mode('core'),
    'resources/prod/ignition/x/y/resource.json': '{}',
  })
  const validation = { policy: 'Off' }
  const file = writeGatewaySync(folder, { repo: repository.folder, profile: { collections: { root: 'resources' } }, spec: { validation } })
  const run = ['run', '-f', file, '--data', dataDir]
  const inPlace = (): object => {
    const placed = [{ source: 'resources', destination: 'config/resources' }]
    return differences({ repository: repository.folder, commit, dataDir, placed })
  }
  const gateway = await startSimulator({ dataDir, name: 'gw', mode: 'prod' })
  const first = await runCli([...run, '--gateway', gateway.url, '--once'])
  t.equal(first.code, 0, first.stderr)
  t.strictSame(inPlace(), [])
  await gateway.stop()

  const down = startCli(t, [...run, '--gateway', gateway.url])
  await until(() => (down.output().includes('plant: Pending') ? true : undefined), 'the runner has looked')
  t.equal(await down.stop(), 0)
  t.match(down.output(), /ModeUnknown/)
  t.strictSame(inPlace(), [], 'the machine started, and the runner was up before the gateway')

  const forgotten = await runCli([...run, '--once'])
  t.equal(forgotten.code, 1)
  t.match(forgotten.stderr, /"prod".*\(ModeUnknown\)/)
  t.strictSame(inPlace(), [], '--gateway was forgotten')

  const plan = await runCli(['plan', '-f', file, '--data', dataDir])
  matchObject(
    t,
    plan,
    { code: 0, stdout: /^! .*mode "prod".*\(mode-unknown\)\n0 to add, 0 to change, 0 to remove, with mode "prod"/ },
    'plan says the same',
  )

  const named = await runCli(['run', '-f', file, '--target', `name=plant,data=${dataDir},mode=`, '--once'])
  t.equal(named.code, 0, named.stderr)
  t.strictSame(listTree(path.join(dataDir, 'config/resources')), ['core/config-mode.json'], 'named explicitly it has none')
})
