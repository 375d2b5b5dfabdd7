/**
 * The two programs of the images: each is a single file without dependencies.
 */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { matchObject } from '../support/assertions.ts'
import { firstLinesOf } from '../support/controller-process.ts'

const root = path.resolve(import.meta.dirname, '../..')

function run(file: string): Promise<{ code: number; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, [file], { cwd: '/', env: { PATH: '/usr/bin:/bin' } }, (error, _stdout, stderr) => {
      resolve({ code: typeof error?.code === 'number' ? error.code : 0, stderr })
    })
  })
}

void t.test('controller and agent bundle into one file each, and report a missing setting in one line', { timeout: 600_000 }, async (t) => {
  matchObject(t, await run(path.join(root, 'scripts/bundle.ts')), { code: 0 })
  for (const program of ['controller.js', 'agent.js']) {
    const text = readFileSync(path.join(root, 'build', program), 'utf8')
    t.notMatch(text, /[^\0-\x7f]/, `${program} is ASCII, so that V8 keeps its text with one byte for each character`)
    t.notMatch(text, /llhttp|UND_ERR_/, `${program} holds no undici`)
    t.notMatch(text, /BatchSpanProcessor|resourceSpans/, `${program} holds no SDK for traces`)
    t.notMatch(text, /SocksClientError|oauth4webapi|JSONPath\.prototype/, `${program} holds none of the other ways of a kubeconfig`)
  }
  t.match(readFileSync(path.join(root, 'build/tracing.mjs'), 'utf8'), /resourceSpans/)
  t.match(readFileSync(path.join(root, 'build/login.mjs'), 'utf8'), /code_challenge_method/)
  matchObject(t, await run(path.join(root, 'build/controller.js')), {
    code: 2,
    stderr: /^cluster-sync controller: environment variable CLUSTER_SYNC_SETTINGS is missing.*\n$/,
  })
  matchObject(t, await run(path.join(root, 'build/agent.js')), {
    code: 2,
    stderr: /^cluster-sync agent: environment variable POD_NAME.*\n$/,
  })
  const lines = await firstLinesOf(t, path.join(root, 'build/controller.js'), { development: true })
  matchObject(t, lines, [/INFO \(.*\): controller started/, /DEBUG: runtime environment/])
})
