/**
 * docs/how-to/webhooks/set-up.md on one machine as written: the secret, the receiver, and an accepted call.
 */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { matchObject } from './support/assertions.ts'
import { textsIn } from './support/page.ts'
import { requires } from './support/requires.ts'
import { runCli, startCli } from './support/run-cli.ts'
import { setUpRun, writeGatewaySync } from './support/standalone-run.ts'
import { until } from './support/world.ts'

const commands = textsIn('docs/how-to/webhooks/set-up.md', 'sh')
const words = (command: string): string[] =>
  commands
    .find((one) => one.startsWith(command))
    ?.trim()
    .split(' ')
    .slice(1) ?? []

void t.test('the page leads from a new secret to a delivery that applies a commit', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const { folder, dataDir, repository } = setUpRun(t, 'webhook')
  repository.commit({ 'projects/line-1/project.json': '{}' })
  writeGatewaySync(folder, { repo: repository.folder, spec: { polling: { enabled: false } } })
  await promisify(execFile)('sh', ['-ec', commands[0] ?? 'false'], { cwd: folder })
  t.match(readFileSync(path.join(folder, 'webhook-secret'), 'utf8'), /^[0-9a-f]{64}\n$/)

  // Only the paths differ from the page, and the port, which is a free one.
  const places = new Map([
    ['gatewaysync.yaml', path.join(folder, 'gatewaysync.yaml')],
    ['data', dataDir],
    ['webhook-secret', path.join(folder, 'webhook-secret')],
    ['9444', '0'],
  ])
  const here = (all: readonly string[]): string[] => all.map((word) => places.get(word) ?? word)
  const run = startCli(t, [...here(words('cluster-sync run')), '--state', path.join(folder, 'state')])
  t.teardown(async () => run.kill())
  const url = await until(() => /POST (http:\S+\/webhook\/default\/plant)/.exec(run.output())?.[1], 'the receiver listens')
  await until(() => (run.output().includes('ready: 1 of 1') ? true : undefined), 'the first commit is in place')

  const commit = repository.commit({ 'projects/line-1/project.json': '{"title":"Line 1"}' }, 'Name line 1')
  const call = here(words('cluster-sync trigger')).map((word) => (word.startsWith('http:') ? url : word))
  const answered = await runCli(call)
  t.equal(answered.code, 0, answered.stderr)
  matchObject(t, JSON.parse(answered.stdout), { accepted: true })
  const told = `published ${commit.slice(0, 8)} of main "Name line 1"`
  await until(() => (run.output().includes(told) ? true : undefined), 'the delivery brings the commit')
  t.equal(await run.stop(), 0)
})
