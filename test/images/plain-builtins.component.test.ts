/**
 * What the programs of the images load of Node itself when they start.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import t from 'tap'
import { plainBuiltins } from '../../scripts/plain-builtins.ts'
import { temporaryFolder } from '../support/repository.ts'

/** Runs a program and returns what it writes, which are names of members, and of the parts of Node that it has loaded. */
async function run(t: { teardown(handler: () => unknown): unknown }, source: string, isPlain: boolean): Promise<string[]> {
  const folder = temporaryFolder(t, 'plain-builtins')
  const [entry, program] = [path.join(folder, 'program.ts'), path.join(folder, 'program.mjs')]
  writeFileSync(entry, `${source}\nconsole.log(process.moduleLoadList.join('\\n'))`)
  await build({
    entryPoints: [entry],
    outfile: program,
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'silent',
    plugins: isPlain ? [plainBuiltins] : [],
  })
  return execFileSync(process.execPath, [program], { encoding: 'utf8' }).split('\n')
}

const inEverySpelling = `
import http, { Agent } from 'node:http'
import * as all from 'http'
import { inspect } from 'node:util'
for (const [name, is] of Object.entries({ 'http.request': http.request === all.request, Agent: Agent === http.Agent, inspect: inspect([1]) === '[ 1 ]' }))
  if (is) console.log(name)`
const members = ['http.request', 'Agent', 'inspect']
const costly = 'NativeModule internal/deps/undici/undici'

void t.test('a bundle has what it asks of http and util, and loads no client of WebSocket with it', async (t) => {
  const lines = await run(t, inEverySpelling, true)
  t.same(lines.slice(0, members.length), members)
  t.notOk(lines.includes(costly))
  t.ok((await run(t, inEverySpelling, false)).includes(costly), 'which it would, imported as it stands')
})

void t.test('a program that asks for what Node loads only then is not built', async (t) => {
  await t.rejects(run(t, `import { WebSocket } from 'node:http'\nconsole.log(WebSocket)`, true), /WebSocket/)
})

void t.test('the agent starts without fetch, HTTP/2 and web streams', async (t) => {
  const folder = temporaryFolder(t, 'agent')
  execFileSync(process.execPath, ['scripts/bundle.ts', folder], { cwd: path.resolve(import.meta.dirname, '../..') })
  const list = path.join(folder, 'list.mjs')
  writeFileSync(list, `process.on('exit', () => console.log(process.moduleLoadList.join('\\n')))`)
  // Without its settings it ends as soon as everything is imported.
  const command = `"${process.execPath}" --import "${list}" "${path.join(folder, 'agent.js')}" 2>/dev/null || true`
  const loaded = execFileSync('sh', ['-c', command], { encoding: 'utf8', env: { PATH: process.env['PATH'] } }).split('\n')
  t.ok(loaded.includes('NativeModule https'), 'what it calls with')
  t.same(
    loaded.filter((name) => /undici|http2|webstreams/.test(name)),
    [],
  )
})
