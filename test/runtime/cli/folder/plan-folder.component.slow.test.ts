import { appendFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { startSimulator } from '../../../../examples/simulator/simulator.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { planFolder } from '../../../../runtime/cli/folder/plan-folder.ts'
import { containsText, matchObject } from '../../../support/assertions.ts'
import { requires } from '../../../support/requires.ts'
import { runCli } from '../../../support/run-cli.ts'
import { setUpRun, writeGatewaySync } from '../../../support/standalone-run.ts'

const mode = (parent: string): string => JSON.stringify({ title: 'x', description: '', enabled: true, inheritable: true, parent })
const tree = {
  'resources/core/config-mode.json': mode('external'),
  'resources/prod/config-mode.json': mode('core'),
  'resources/prod/notes.txt': 'prod',
}
const profile = { collections: { root: 'resources' } }

void t.test('plan uses the mode of the running gateway, as a run does', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'plan-mode')
  repository.commit(tree)
  const file = writeGatewaySync(folder, { repo: repository.folder, profile })
  const gateway = await startSimulator({ dataDir, name: 'gw', mode: 'prod' })
  t.teardown(() => gateway.stop())
  const live = await planFolder({ file, data: dataDir, gateway: gateway.url })
  matchObject(t, live, { mode: { name: 'prod', from: 'Gateway' }, findings: [] })
  t.ok(live.changes.some(({ path: file }) => file === 'config/resources/prod/notes.txt'))
  const blind = await planFolder({ file, data: dataDir })
  matchObject(t, blind, { mode: { name: '', from: 'None' }, findings: [{ rule: 'mode-unknown' }] })
  t.notOk(blind.changes.some(({ path: file }) => file.includes('/prod/')))
  const named = await planFolder({ file, data: dataDir, gateway: gateway.url, mode: 'core' })
  matchObject(t, named.mode, { name: 'core', from: 'Target' }, 'the named mode takes precedence')
  await gateway.stop()
  await t.rejects(planFolder({ file, data: dataDir, gateway: gateway.url }), /connect|reach/)
  await t.rejects(planFolder({ file, data: dataDir, gateway: 'localhost' }), Fault)
})

void t.test('findings that validation would refuse are reported unless validation is off', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'plan-gate')
  repository.commit({ ...tree, 'resources/prod/config-mode.json': mode('nowhere') })
  const planned = async (policy: string) => {
    const file = writeGatewaySync(folder, { repo: repository.folder, profile, spec: { validation: { policy } } })
    return await planFolder({ file, data: dataDir, mode: 'prod' })
  }
  const enforced = await planned('Enforce')
  matchObject(t, enforced.checked, {
    errors: 1,
    refused: true,
    items: [
      { rule: 'unknown-parent', path: 'resources/prod/config-mode.json' },
      { rule: 'orphan-file', path: 'resources/prod/notes.txt' },
    ],
  })
  t.strictSame(enforced.findings, [], 'one finding for one cause')
  matchObject(t, (await planned('Warn')).checked, { errors: 1, refused: false })
  matchObject(t, await planned('Off'), {
    checked: undefined,
    findings: [{ rule: 'unknown-parent', path: 'prod/config-mode.json', message: /^the parent "nowhere" does not exist/ }],
  })
})

void t.test('local changes are reported also with a new commit, secrets are hidden, and exit codes are as documented', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'plan-drift')
  repository.commit({ 'projects/a.txt': 'a', 'projects/b.json': '{\n  "password": "hunter2"\n}\n' })
  const file = writeGatewaySync(folder, { repo: repository.folder })
  t.equal((await runCli(['run', '-f', file, '--data', dataDir, '--once'])).code, 0)
  matchObject(t, await runCli(['plan', '-f', file, '--data', dataDir]), { code: 0, stderr: '' })
  appendFileSync(path.join(dataDir, 'projects/a.txt'), 'local')
  repository.commit({ 'projects/b.json': '{\n  "password": "hunter3"\n}\n' })
  const { code, stdout } = await runCli(['plan', '-f', file, '--data', dataDir])
  t.equal(code, 1)
  containsText(
    t,
    stdout,
    '~ projects/b.json\n    -  "password": "(hidden)"\n    +  "password": "(hidden, changed)"\n! 1 managed file was changed',
  )
  containsText(t, stdout, '0 to add, 1 to change, 0 to remove')
  writeFileSync(file, '')
  const failed = await runCli(['plan', '-f', file, '--data', dataDir, '--summary', '--format', 'json'])
  matchObject(t, failed, { code: 2, stdout: '', stderr: /^cluster-sync: .*\(InvalidConfiguration\)\n$/ })
})
