/**
 * A staged rollout of `cluster-sync run`: stages select targets by labels and by names, one after the other.
 */
import { mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { rolloutAnnotations } from '../../runtime/api/names.ts'
import type { RolloutStatus } from '../../runtime/api/schema/rollout-status.ts'
import { readState } from '../../runtime/standalone/state.ts'
import { matchObject } from '../support/assertions.ts'
import { requires } from '../support/requires.ts'
import { startCli } from '../support/run-cli.ts'
import { setUpRun, writeGatewaySync } from '../support/standalone-run.ts'
import { until } from '../support/world.ts'

const targets = { 'on-trial': ['label=line:test', 'label=area:north'], second: ['label=line:plant'], third: [] }
const rollout = {
  stages: [
    { name: 'test-line', selector: { matchLabels: { line: 'test', area: 'north' } } },
    { name: 'by-name', selector: { names: ['sec*'] }, approval: 'Manual' },
    { name: 'rest', approval: 'Manual' },
  ],
}

void t.test('stages select targets by labels and names, and apply a commit one after the other', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, repository } = setUpRun(t, 'stages')
  const state = path.join(folder, 'state')
  const write = (annotations: Record<string, string> = {}) =>
    writeGatewaySync(folder, { repo: repository.folder, annotations, spec: { polling: { interval: '5s' }, rollout } })
  const onDisk = (): string[] => Object.keys(targets).map((name) => readFileSync(path.join(folder, name, 'projects/a.txt'), 'utf8'))
  const rolled = async (what: string, isReached: (rollout: RolloutStatus) => boolean): Promise<RolloutStatus> =>
    await until(() => {
      const now = readState(state)?.status.rollout
      return now !== undefined && isReached(now) ? now : undefined
    }, what)
  for (const name of Object.keys(targets)) mkdirSync(path.join(folder, name))
  repository.commit({ 'projects/a.txt': 'one' })
  const file = write()
  const given = Object.entries(targets).flatMap(([name, labels]) => [
    '--target',
    [`name=${name}`, `data=${path.join(folder, name)}`, ...labels].join(','),
  ])
  const run = startCli(t, ['run', '-f', file, ...given, '--state', state])
  t.teardown(async () => run.kill())
  await rolled('the first commit is everywhere', ({ state }) => state === 'Done')
  await until(() => (run.output().match(/: Synced/g)?.length === 3 ? true : undefined), 'all three have it')
  t.strictSame(onDisk(), ['one', 'one', 'one'])

  const second = repository.commit({ 'projects/a.txt': 'two' })
  const { id } = await rolled('the second stage waits', ({ commit, stage, waitsFor }) => {
    return commit === second && stage === 'by-name' && waitsFor === 'Approval'
  })
  t.strictSame(onDisk(), ['two', 'one', 'one'], 'the one with both labels has it')
  write({ [rolloutAnnotations.action]: `approve ${id} by-name`, [rolloutAnnotations.by]: 'somebody' })
  await rolled('the last stage waits', ({ stage, waitsFor }) => stage === 'rest' && waitsFor === 'Approval')
  t.strictSame(onDisk(), ['two', 'two', 'one'], 'the one that is named has it, whatever its labels')
  write({ [rolloutAnnotations.action]: `approve ${id} rest`, [rolloutAnnotations.by]: 'somebody' })
  const { stages } = await rolled('every stage is done', ({ state }) => state === 'Done')
  t.strictSame(onDisk(), ['two', 'two', 'two'])
  matchObject(t, stages, [{ gateways: 1 }, { approvedBy: 'somebody' }, { approvedBy: 'somebody' }])
  t.equal(await run.stop(), 0)
})
