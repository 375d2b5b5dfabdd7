/**
 * The unit of examples/systemd: systemd accepts it, and its command follows a repository and stops cleanly.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'
import { startCli } from '../support/run-cli.ts'
import { setUpRun, writeGatewaySync } from '../support/standalone-run.ts'
import { until } from '../support/world.ts'

const unit = readFileSync(path.resolve(import.meta.dirname, '../../examples/systemd/cluster-sync.service'), 'utf8')
const [program = '', ...words] = /^ExecStart=(.*)$/m.exec(unit)?.[1]?.split(' ') ?? []

void t.test('systemd-analyze reports nothing about the unit', async (t) => {
  const folder = temporaryFolder(t, 'unit')
  const here = path.join(folder, 'cluster-sync')
  writeFileSync(here, '#!/bin/sh\n')
  chmodSync(here, 0o755)
  const file = path.join(folder, 'cluster-sync.service')
  writeFileSync(file, unit.replace(program, here))
  const { error, stderr, status } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' })
  if (error !== undefined) {
    t.comment('systemd-analyze is not on this machine; what the unit says is read all the same')
  } else {
    const about = stderr.split('\n').filter((line) => line.includes('cluster-sync.service'))
    t.strictSame([status, about], [0, []])
  }
  t.match(unit, /^StateDirectory=cluster-sync$/m)
  t.equal(program, '/usr/local/bin/cluster-sync', 'where npm install --global puts it')
})

void t.test('the command of the unit applies a commit, and exits with 0 when systemd stops it', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'service')
  repository.commit({ 'projects/line-1/project.json': '{}' })
  writeGatewaySync(folder, { repo: repository.folder })
  mkdirSync(path.join(folder, 'credentials'))
  writeFileSync(path.join(folder, 'credentials/api-key'), 'sync:secret\n')
  const places: [string, string][] = [
    ['/etc/cluster-sync', folder],
    ['/usr/local/bin/ignition/data', dataDir],
    ['${CREDENTIALS_DIRECTORY}', path.join(folder, 'credentials')],
  ]
  const here = words.map((word) => places.reduce((text, [from, to]) => text.replace(from, to), word))
  // No gateway runs on this machine; the files are applied anyway.
  const run = startCli(t, [
    ...here.filter((word, at) => word !== '--gateway' && here[at - 1] !== '--gateway'),
    '--state',
    path.join(folder, 's'),
  ])
  await until(() => (run.output().includes('ready: 1 of 1') ? true : undefined), 'the commit is in place')
  t.equal(await run.stop(), 0)
})
