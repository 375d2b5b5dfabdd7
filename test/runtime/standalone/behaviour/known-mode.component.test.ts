/**
 * What a gateway runs is not deleted because nobody can say its deployment mode just now.
 */
import path from 'node:path'
import t from 'tap'
import { startSimulator } from '../../../../examples/simulator/simulator.ts'
import { differences, listTree } from '../../../../scripts/quickstart/check.ts'
import { requires } from '../../../support/requires.ts'
import { runCli, startCli } from '../../../support/run-cli.ts'
import { setUpRun, writeGatewaySync } from '../../../support/standalone-run.ts'
import { until } from '../../../support/world.ts'

void t.test('a gateway that cannot say its deployment mode any more keeps the files of it', async (t) => {
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
  t.same(inPlace(), [])
  await gateway.stop()

  const down = startCli([...run, '--gateway', gateway.url])
  await until(() => (down.output().includes('plant: Pending') ? true : undefined), 'the runner has looked')
  t.equal(await down.stop(), 0)
  t.match(down.output(), /ModeUnknown/)
  t.same(inPlace(), [], 'the machine started, and the runner was up before the gateway')

  const forgotten = await runCli([...run, '--once'])
  t.equal(forgotten.code, 1)
  t.match(forgotten.stderr, /"prod".*\(ModeUnknown\)/)
  t.same(inPlace(), [], '--gateway was forgotten')

  const plan = await runCli(['plan', '-f', file, '--data', dataDir])
  t.match(
    plan,
    { code: 0, stdout: /^! .*mode "prod".*\(mode-unknown\)\n0 to add, 0 to change, 0 to remove, with mode "prod"/ },
    'plan says the same',
  )

  const named = await runCli(['run', '-f', file, '--target', `name=plant,data=${dataDir},mode=`, '--once'])
  t.equal(named.code, 0, named.stderr)
  t.same(listTree(path.join(dataDir, 'config/resources')), ['core/config-mode.json'], 'named explicitly it has none')
})
