/**
 * docs/how-to/proxy.md on one machine as written: a git host with a certificate of a private authority, behind a proxy that resolves its
 * name.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { parse, stringify } from 'yaml'
import { makeAuthority } from './support/authority.ts'
import { startConnectProxy } from './support/connect-proxy.ts'
import { startGitHost } from './support/git-host.ts'
import { textsIn } from './support/page.ts'
import { makeRepository, temporaryFolder } from './support/repository.ts'
import { requires } from './support/requires.ts'
import { runCli } from './support/run-cli.ts'

type GatewaySync = { spec: { git: { repo: string; proxy?: object; caBundle: object } } }

const host = 'git.plant.example'
const login = 'user:password'
const [prepareAndRun = '', runWithVariable = '', cluster = ''] = textsIn('docs/how-to/proxy.md', 'sh')
const [prepare = '', run = ''] = prepareAndRun.split(/^(?=cluster-sync )/m)
const [yaml = ''] = textsIn('docs/how-to/proxy.md', 'yaml')

/** The git host of the page behind a proxy with `password`, and a folder with the authority's certificate. */
async function setUp(t: Test, password: string | undefined) {
  const folder = temporaryFolder(t, 'proxy-page')
  const authority = await makeAuthority(path.join(folder, 'authority'), 'Plant CA', [host])
  writeFileSync(path.join(folder, 'plant-ca.crt'), authority.certificate)
  makeRepository(path.join(folder, 'git/acme/plant.git')).commit({ 'projects/line/project.json': '{}' })
  const git = await startGitHost(path.join(folder, 'git'), { tls: { key: authority.server.key, cert: authority.server.certificate } })
  const proxy = await startConnectProxy(password, { [host]: '127.0.0.1' })
  t.teardown(async () => Promise.all([git.stop(), proxy.stop()]))
  mkdirSync(path.join(folder, 'data'))
  const here = (text: string): string => text.replace('proxy.example.com:3128', `127.0.0.1:${proxy.port}`)
  execFileSync('sh', ['-ec', here(prepare)], { cwd: folder })
  const write = (change: (sync: GatewaySync) => void): void => {
    const sync = parse(yaml) as GatewaySync
    sync.spec.git.repo = sync.spec.git.repo.replace(host, `${host}:${git.port}`)
    change(sync)
    writeFileSync(path.join(folder, 'gatewaysync.yaml'), stringify(sync))
  }
  /** Runs one of the page's commands, until the first sync. */
  const call = async (line: string) => {
    const [, variable, words = ''] = /^(?:HTTPS_PROXY=(\S+) )?cluster-sync (.*)\n$/.exec(here(line)) ?? []
    const args = words.replace('/usr/local/bin/ignition/data', 'data').split(' ')
    const env = { HTTPS_PROXY: variable ?? '' }
    return await runCli([...args, '--state', 'state', '--once'], { cwd: folder, env })
  }
  return { folder, write, call, asked: () => proxy.asked.map(({ target }) => target), target: `${host}:${git.port}` }
}

void t.test('a proxy with a password and a private authority works with the Secrets of the page', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const { folder, write, call, asked, target } = await setUp(t, login)
  write(() => undefined)
  const { code, stdout, stderr } = await call(run)
  t.equal(code, 0, stdout + stderr)
  t.strictSame(readdirSync(path.join(folder, 'data/projects')), ['line'])
  t.ok(asked().length > 0 && asked().every((one) => one === target), 'by the proxy')

  const without = await call(runWithVariable.replace('--secrets secrets', '--secrets secrets --timeout 20s'))
  t.equal(without.code, 0, 'the Secret counts before the variable')
})

void t.test('a proxy without a password works in HTTPS_PROXY', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'openssl')) return
  const { folder, write, call, asked } = await setUp(t, undefined)
  write(({ spec }) => delete spec.git.proxy)
  const { code, stdout, stderr } = await call(runWithVariable)
  t.equal(code, 0, stdout + stderr)
  t.strictSame(readdirSync(path.join(folder, 'data/projects')), ['line'])
  t.ok(asked().length > 0, 'by the proxy')
})

void t.test('in a cluster the Secrets have the names, keys and contents of the files', async (t) => {
  const made = [...cluster.matchAll(/create secret generic (\S+) .*--from-(?:file|literal)=([\w.]+)=(\S+)$/gm)]
  t.strictSame(
    made.map(([, name, key]) => `secrets/${name}/${key}`),
    [...prepare.matchAll(/secrets\/[\w-]+\/[\w.]+/g)].map(([file]) => file),
  )
  for (const [, , , content = ''] of made) t.ok(prepare.includes(content), content)
})
