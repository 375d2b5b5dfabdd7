/**
 * The parts of Node that the programs of the images load at their start.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { build } from 'esbuild'
import t from 'tap'
import { plainBuiltins } from '../../scripts/plain-builtins.ts'
import { temporaryFolder } from '../support/repository.ts'

/** Runs a program and returns its output: names of members, and of the loaded parts of Node. */
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

void t.test('a bundle has the used members of http and util, and does not load the WebSocket client', async (t) => {
  const lines = await run(t, inEverySpelling, true)
  t.strictSame(lines.slice(0, members.length), members)
  t.notOk(lines.includes(costly))
  t.ok((await run(t, inEverySpelling, false)).includes(costly), 'which it would, imported as it stands')
})

void t.test('a program that uses a lazily loaded member of Node is not built', async (t) => {
  await t.rejects(run(t, `import { WebSocket } from 'node:http'\nconsole.log(WebSocket)`, true), /WebSocket/)
})
