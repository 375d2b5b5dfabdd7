/**
 * The output of `cluster-sync run`: on a real pseudo terminal, in a pipe, as JSON, and while the GatewaySync file is edited.
 */
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { matchObject } from '../../../support/assertions.ts'
import { requires } from '../../../support/requires.ts'
import { runCli, startCli } from '../../../support/run-cli.ts'
import { setUpRun, writeGatewaySync } from '../../../support/standalone-run.ts'
import { until } from '../../../support/world.ts'

const cli = path.resolve(import.meta.dirname, '../../../../runtime/cli.ts')
const mode = (parent: string): string => JSON.stringify({ title: 'x', description: '', enabled: true, inheritable: true, parent })

void t.test('on a terminal a run has color, symbols and a transient line for idle polls, and exits with 0 on Ctrl-C', async (t) => {
  if (!requires(t, 'git', 'script')) return
  const { folder, dataDir, repository } = setUpRun(t, 'terminal')
  repository.commit({ 'projects/a.txt': 'a' })
  const file = writeGatewaySync(folder, { repo: repository.folder, spec: { polling: { interval: '5s' } } })
  const command = [process.execPath, cli, 'run', '-f', file, '--data', dataDir, '--state', path.join(folder, 'state')].join(' ')
  const { NO_COLOR: _noColor, ...environment } = process.env
  // The run replaces the shell, because a shell between terminal and run may handle Ctrl-C and exit with 130.
  const child = spawn('script', ['-qec', `stty cols 200; exec ${command}`, '/dev/null'], {
    env: { ...environment, TERM: 'xterm' },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let screen = ''
  child.stdout.on('data', (chunk: Buffer) => (screen += chunk.toString('utf8')))
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve))
  await until(() => (screen.includes('nothing new since') ? true : undefined), 'a poll found nothing new')
  const marked = screen.replaceAll('\u001b', '<esc>')
  t.match(marked, /<esc>\[32m✓<esc>\[0m <esc>\[32mpublished [0-9a-f]{8} of main "/)
  t.match(marked, /\r<esc>\[2K\d\d:\d\d:\d\d {3}checked main: nothing new since [0-9a-f]{8}/, 'a line that is written over')
  child.stdin.write('\u0003')
  t.equal(await ended, 0)
  t.match(screen, /stopping after the current step/)
})

void t.test('a pipe gets plain lines with commit subject, lint findings and next step, each once', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'pipe')
  const good = repository.commit({ 'resources/core/config-mode.json': mode('external'), 'resources/dev/config-mode.json': mode('core') })
  const spec = { polling: { interval: '5s' } }
  const file = writeGatewaySync(folder, { repo: repository.folder, profile: { collections: { root: 'resources' } }, spec })
  const run = startCli(t, ['run', '-f', file, '--target', `name=gw,data=${dataDir},mode=dev`, '-v'])
  await until(() => (run.output().includes(' ready: ') ? true : undefined), 'it is ready')
  t.match(run.output(), /Z published [0-9a-f]{8} of main ".+" by .+, fetched and checked in \d/)
  t.match(run.output(), /Z gw: Synced [0-9a-f]{8} in \d.*, 2 added\n {25}\+ config\/resources\/core\/config-mode\.json\n/)
  const bad = repository.commit({ 'resources/dev/config-mode.json': mode('nowhere') })
  const refusal = new RegExp(
    `Z not ready: commit ${bad.slice(0, 8)} of main ".+" by .+ is refused: 1 error \\(CollectionsInvalid\\); ` +
      `the previous commit ${good.slice(0, 8)} of main stays published\\n` +
      ` {25}resources/dev/config-mode\\.json:\\d+: error: the parent "nowhere".*\\(unknown-parent\\)\\n {21}next: Run .cluster-sync lint.`,
  )
  await until(() => (refusal.test(run.output()) ? true : undefined), 'the refusal is reported')
  t.equal(await run.stop(), 0)
  t.equal(run.output().split('CollectionsInvalid').length, 2, 'once')
  t.notMatch(run.output(), /^\{|nothing new/m)
  t.notOk(run.output().includes('\u001b'))
})

void t.test('--format json prints one event per line', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'json')
  repository.commit({ 'projects/a.txt': 'a' })
  const file = writeGatewaySync(folder, { repo: repository.folder })
  const { code, stdout, stderr } = await runCli(['run', '-f', file, '--data', dataDir, '--once', '--format', 'json'])
  matchObject(t, { code, stderr }, { code: 0, stderr: '' })
  const events = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { event: string })
  t.strictSame(
    events.map(({ event }) => event),
    ['following', 'published', 'target', 'ready'],
  )
  matchObject(t, events[2], { target: 'plant', phase: 'Synced', files: { added: 1 }, paths: { added: ['projects/a.txt'] }, level: 'ok' })
})

void t.test('an edited GatewaySync file is followed during the run, and an invalid edit is named', async (t) => {
  if (!requires(t, 'git')) return
  const { folder, dataDir, repository } = setUpRun(t, 'edited')
  repository.commit({ 'projects/a.txt': 'a' })
  repository.git('branch', 'staging')
  repository.git('checkout', '-q', 'staging')
  const staging = repository.commit({ 'projects/a.txt': 'b' })
  const file = writeGatewaySync(folder, { repo: repository.folder })
  const token = path.join(folder, 'token')
  writeFileSync(token, 'the-token')
  const run = startCli(t, ['run', '-f', file, '--data', dataDir, '--receiver-port', '0', '--token-file', token])
  await until(() => (run.output().includes(' ready: ') ? true : undefined), 'it is ready')
  const good = readFileSync(file, 'utf8')
  writeFileSync(file, good.replace('ref:', 'reff:'))
  await until(() => (/unknown key|is missing/.test(run.output()) ? true : undefined), 'it is named')
  t.match(run.output(), /; the previous version stays in effect\n/)
  writeFileSync(file, good.replace('ref: main', 'ref: staging'))
  await until(() => (run.output().includes(`Synced ${staging.slice(0, 8)}`) ? true : undefined), 'the other branch is in place')
  t.match(run.output(), /has changed and is in effect/)
  t.equal(readFileSync(path.join(dataDir, 'projects/a.txt'), 'utf8'), 'b')
  const urls = [...run.output().matchAll(/POST (http:\S+)/g)].map(([, url]) => url)
  t.equal(new Set(urls).size, 1, 'the receiver keeps its port')
  const next = repository.commit({ 'projects/a.txt': 'c' })
  const headers = { authorization: 'Bearer the-token', 'content-type': 'application/json' }
  t.equal((await fetch(urls[0] ?? '', { method: 'POST', headers, body: '{"ref":"staging"}' })).status, 202)
  await until(() => (run.output().includes(`Synced ${next.slice(0, 8)}`) ? true : undefined), 'a push reaches what is followed now')
  t.equal(await run.stop(), 0)
})
