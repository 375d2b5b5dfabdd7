/**
 * docs/webhooks: every host of the table has a page, and the test call of each page works as it stands.
 */
import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { ReceiverDeps } from '../../../../runtime/receiver/app.ts'
import { signatureHeaders, tokenHeaders } from '../../../../runtime/receiver/prove/authenticate.ts'
import { hosts } from '../../../../runtime/receiver/payload/payload.ts'
import { serveReceiver } from '../../../support/receiver-app.ts'
import { requires } from '../../../support/requires.ts'

const folder = path.resolve(import.meta.dirname, '../../../../docs/webhooks')
const read = (file: string): string => readFileSync(path.join(folder, file), 'utf8')
/** Those of the hosts; the others lead through what they have in common. */
const pages = readdirSync(folder).filter((file) => !['README.md', 'set-up.md'].includes(file))
const titleOf = (file: string): string => /^# (.*)$/m.exec(read(file))?.[1] ?? ''

void t.test('each host of the table has one page and one line, each header that proves is named', async (t) => {
  const names = new Set(hosts.map(({ name }) => name))
  t.same(new Set(pages.map(titleOf)), names)
  const overview = read('README.md')
  t.same(
    new Set([...overview.matchAll(/^\| \[([^\]]+)\]\(([^)]+)\)/gm)].map(([, name = '', file = '']) => `${name} ${file}`)),
    pagesByName(),
  )
  for (const header of [...signatureHeaders, ...tokenHeaders]) t.ok(overview.includes(`\`${header}\``), header)
})

void t.test('the test call of each page is accepted', async (t) => {
  if (!requires(t, 'sh', 'curl', 'openssl')) return
  const lookup: ReceiverDeps['lookup'] = (namespace, name) =>
    namespace === 'plants' && name === 'line-1' ? { specRef: 'main', wantedRef: 'main', allowedRefs: undefined } : undefined
  const { served } = await serveReceiver(t, { keys: { hmac: ['a secret'], tokens: ['a-token'] }, more: { lookup } })
  const cwd = t.testdir({ 'webhook-secret': 'a secret\n', 'webhook-token': 'a-token\n' })
  for (const page of pages) {
    const script = /^```sh\n([^]*?)^```$/m.exec(read(page))?.[1] ?? ''
    t.ok(script.includes('https://receiver.example/'), page)
    const { stdout } = await promisify(execFile)('sh', ['-c', script.replace('https://receiver.example', served.url)], {
      cwd,
      timeout: 20_000,
    })
    t.match(JSON.parse(stdout), { accepted: true, ref: 'main', source: 'push' }, page)
  }
})

function pagesByName(): Set<string> {
  return new Set(pages.map((file) => `${titleOf(file)} ${file}`))
}
