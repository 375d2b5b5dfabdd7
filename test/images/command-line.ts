/**
 * Runs the image of the command line like its hosts: a GitLab job, a GitHub job and a service of a compose file, each with the arguments,
 * user and mounts of the documentation.
 */
import { execFileSync, spawn } from 'node:child_process'
import { chownSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import * as v from 'valibot'
import { parse } from 'yaml'
import { startSimulator } from '../../examples/simulator/simulator.ts'
import { matchObject } from '../support/assertions.ts'
import { textsIn } from '../support/page.ts'
import { makeRepository, temporaryFolder } from '../support/repository.ts'
import { until } from '../support/world.ts'

const root = path.resolve(import.meta.dirname, '../..')
/** The user of the gateway's image. */
const gatewayUser = 2003

/** `run` takes the arguments of buildah. */
export type Builder = { run(...words: string[]): string; env: NodeJS.ProcessEnv }

type Ended = { code: number | null; output: string }

/** A container with its program; `pid` is that of buildah. */
type Running = { pid: number; output(): string; isOver(): boolean; ended: Promise<Ended> }

function start({ env }: Builder, words: readonly string[]): Running {
  const child = spawn('buildah', ['run', ...words], { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000 })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')))
  const ended = new Promise<Ended>((resolve) => child.on('close', (code) => resolve({ code, output })))
  return { pid: child.pid ?? 0, output: () => output, isOver: () => child.exitCode !== null, ended }
}

/** A clone as a runner mounts it into a job: owned by root and writable for everybody. `base` is the commit before the last. */
function workspace(t: Test): { folder: string; base: string } {
  const folder = path.join(temporaryFolder(t, 'job'), 'plant')
  const repository = makeRepository(folder)
  cpSync(path.join(root, 'examples/plant'), folder, { recursive: true })
  const base = repository.commit({}, 'Add the plant')
  const project = { title: 'Notes', description: '', parent: '', enabled: true, inheritable: false }
  repository.commit({ 'services/projects/notes/project.json': `${JSON.stringify(project, undefined, 2)}\n` }, 'Add a project')
  execFileSync('chmod', ['-R', 'a+rwX', folder])
  return { folder, base }
}

function blockWith(language: string, words: string): unknown {
  return parse(textsIn('docs/how-to/pipelines.md', language).find((text) => text.includes(words)) ?? '')
}

/** The jobs of docs/how-to/pipelines.md that run in the image. */
export async function jobsOfHosts(t: Test, builder: Builder, container: string): Promise<void> {
  const { folder, base } = workspace(t)
  const inJob = async (user: string, script: readonly string[]): Promise<Ended> => {
    const words = ['--user', user, '--volume', `${folder}:/builds/plant`, '--workingdir', '/builds/plant', container, '--']
    return await start(builder, [...words, 'sh', '-ec', script.join('\n')]).ended
  }
  const gitlab = v.object({
    'cluster-sync-lint': v.object({
      image: v.strictObject({ name: v.pipe(v.string(), v.endsWith('/cli:0.1.0')), entrypoint: v.tuple([v.literal('')]) }),
      script: v.array(v.string()),
    }),
  })
  const { 'cluster-sync-lint': job } = v.parse(gitlab, blockWith('yaml', 'entrypoint: [""]'))
  matchObject(t, await inJob(`${gatewayUser}:${gatewayUser}`, job.script), { code: 0 })
  t.strictSame(JSON.parse(readFileSync(path.join(folder, 'gl-code-quality-report.json'), 'utf8')), [], 'no findings')
  const ready = v.object({ 'cluster-sync-lint': v.object({ before_script: v.array(v.string()), script: v.array(v.string()) }) })
  const given = parse(readFileSync(path.join(root, 'integrations/gitlab-ci.yml'), 'utf8')) as unknown
  const { before_script: before, script: lines } = v.parse(ready, given)['cluster-sync-lint']
  const variables = [
    'export CI_PROJECT_DIR=/builds/plant',
    'export CLUSTER_SYNC_FILE=gatewaysync.yaml',
    `export CI_MERGE_REQUEST_DIFF_BASE_SHA=${base}`,
  ]
  const planned = await inJob(`${gatewayUser}:${gatewayUser}`, [...variables, ...before, ...lines])
  matchObject(t, planned, { code: 0, output: /^profile default, .*: 1 to add, 0 to change, 0 to remove$/m }, 'git takes the clone of root')

  const github = v.object({
    jobs: v.object({
      lint: v.looseObject({
        container: v.strictObject({ image: v.pipe(v.string(), v.endsWith('/cli:0.1.0')), options: v.literal('--user 1001') }),
        steps: v.array(v.looseObject({ run: v.optional(v.string()) })),
      }),
    }),
  })
  const { steps } = v.parse(github, blockWith('yaml', 'options: --user 1001')).jobs.lint
  const script = steps.flatMap(({ run }) => run ?? [])
  matchObject(t, await inJob('1001', script), { code: 0 })
  const bad = path.join(folder, 'services/config/resources/dev/config-mode.json')
  writeFileSync(bad, readFileSync(bad, 'utf8').replace('"core"', '"cor"'))
  matchObject(t, await inJob('1001', script), {
    code: 1,
    output: /^::error file=services\/config\/resources\/dev\/config-mode\.json,line=6,/m,
  })
}

/** The supported part of the Compose Specification. */
const service = v.strictObject({
  image: v.string(),
  command: v.array(v.string()),
  ports: v.optional(v.array(v.pipe(v.string(), v.regex(/^\d+:\d+$/)))),
  depends_on: v.optional(v.array(v.string())),
  volumes: v.array(v.pipe(v.string(), v.regex(/^[a-z./-]+:\/[a-z/-]+(?::ro)?$/))),
  user: v.optional(v.pipe(v.string(), v.regex(/^\d+:\d+$/))),
  read_only: v.optional(v.boolean()),
  tmpfs: v.optional(v.array(v.string())),
  cap_drop: v.optional(v.array(v.string())),
  security_opt: v.optional(v.array(v.string())),
  stop_grace_period: v.optional(v.pipe(v.string(), v.regex(/^\d+[smh]$/))),
  restart: v.optional(v.picklist(['no', 'always', 'on-failure', 'unless-stopped'])),
})
const composeFile = v.strictObject({
  name: v.string(),
  services: v.record(v.string(), service),
  volumes: v.record(v.string(), v.nullable(v.never())),
})

/**
 * The service of examples/compose beside a simulated gateway, from its first start to a stop. It has no capabilities;
 * test/examples/compose.component.test.ts covers `read_only`, `tmpfs` and `security_opt`, which `buildah run` lacks without a container
 * runtime.
 */
export async function composedService(t: Test, builder: Builder, container: string): Promise<void> {
  const { services, volumes } = v.parse(composeFile, parse(readFileSync(path.join(root, 'examples/compose/compose.yaml'), 'utf8')))
  for (const { volumes: mounted } of Object.values(services))
    for (const [name = ''] of mounted.map((mount) => mount.split(':'))) t.ok(name.startsWith('./') || name in volumes, name)
  const { 'cluster-sync': own, gateway } = services
  if (own === undefined || gateway === undefined) return void t.fail('the services have other names')
  t.strictSame(own.depends_on, ['gateway'])
  t.ok(gateway.volumes.includes('gateway-data:/usr/local/bin/ignition/data'), 'one data directory for both')

  const folder = temporaryFolder(t, 'composed')
  const places = Object.fromEntries(
    own.volumes.map((mount) => {
      const [name = ''] = mount.split(':')
      const place = path.join(folder, path.basename(name))
      mkdirSync(place)
      return [name, place]
    }),
  )
  // Like a new volume of a container, which has the owner of the image's folder.
  for (const name of ['gateway-data', 'cluster-sync-state']) chownSync(places[name] ?? '', gatewayUser, gatewayUser)
  const { folder: plant } = workspace(t)
  const given = readFileSync(path.join(root, 'examples/plant/gatewaysync.yaml'), 'utf8')
  const settings = places['./cluster-sync'] ?? ''
  writeFileSync(path.join(settings, 'gatewaysync.yaml'), given.replace(/repo: .*?(,|\n)/, 'repo: /srv/plant$1'))
  writeFileSync(path.join(settings, 'api-key'), 'sync:secret\n')
  const dataDir = places['gateway-data'] ?? ''
  const simulator = await startSimulator({ dataDir, name: 'gateway', mode: 'prod', apiKey: 'sync:secret' })
  t.teardown(async () => simulator.stop())

  const mounts = [...own.volumes.map((mount) => mount.replace(/^[^:]*/, (name) => places[name] ?? '')), `${plant}:/srv/plant:ro`]
  // The container uses the network of this machine, which has no host `gateway`.
  const command = own.command.map((word) => word.replace('http://gateway:8088', simulator.url))
  const { OCIv1 } = JSON.parse(builder.run('inspect', container)) as { OCIv1: { config: { Entrypoint: string[] } } }
  const rights = (own.cap_drop ?? []).flatMap((name) => ['--cap-drop', name === 'ALL' ? 'all' : name])
  const words = ['--user', own.user ?? '', ...rights, ...mounts.flatMap((mount) => ['--volume', mount]), container, '--']
  const running = start(builder, [...words, ...OCIv1.config.Entrypoint, ...command])
  await until(() => running.isOver() || running.output().includes(' ready: 1 of 1') || undefined, 'the gateway runs the commit')
  t.match(running.output(), / ready: 1 of 1/)
  t.match(running.output(), /Synced [0-9a-f]{8} .*gateway read projects and config/)
  const files = readdirSync(path.join(dataDir, 'config/resources'))
  t.strictSame(files.toSorted(), ['core', 'external', 'prod'])
  t.equal(statSync(path.join(dataDir, 'config/resources/prod')).uid, gatewayUser)
  const program = descendants(running.pid).find((pid) => commandOf(pid).some((word) => word.startsWith('--file=')))
  if (program === undefined) return void t.fail(`the program is not running: ${running.output()}`)
  process.kill(program, 'SIGTERM')
  matchObject(t, await running.ended, { code: 0 }, 'a stop is no failure')
}

/** The child processes of a process, recursively. */
function descendants(pid: number): number[] {
  const threads = existsSync(`/proc/${pid}/task`) ? readdirSync(`/proc/${pid}/task`) : []
  const children = threads.flatMap((thread) => read(`/proc/${pid}/task/${thread}/children`).split(' ').filter(Boolean).map(Number))
  return [...children, ...children.flatMap(descendants)]
}

function commandOf(pid: number): string[] {
  const words = read(`/proc/${pid}/cmdline`).split('\0')
  return path.basename(words[0] ?? '') === 'node' ? words : []
}

/** Empty if the process has exited meanwhile. */
function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
