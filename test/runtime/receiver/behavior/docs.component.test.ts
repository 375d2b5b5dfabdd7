/**
 * Tests docs/how-to/webhooks: every host of the table has a section, and the test delivery of each section works.
 */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import type { ReceiverDeps } from '../../../../runtime/receiver/receiver-deps.ts'
import { signatureHeaders, tokenHeaders } from '../../../../runtime/receiver/authentication/authenticate.ts'
import { hosts } from '../../../../runtime/receiver/payload/payload.ts'
import { matchObject } from '../../../support/assertions.ts'
import { serveReceiver } from '../../../support/receiver-app.ts'
import { blocksOf } from '../../../support/page.ts'
import { requires } from '../../../support/requires.ts'

const folder = path.resolve(import.meta.dirname, '../../../../docs/how-to/webhooks')
const read = (file: string): string => readFileSync(path.join(folder, file), 'utf8')
const [definitions, ...calls] = blocksOf('docs/how-to/webhooks/hosts.md').filter(({ language }) => language === 'sh')

void t.test('each host of the table has one section and one row, and each authentication header is documented', async (t) => {
  const names = new Set(hosts.map(({ name }) => name))
  t.strictSame(new Set(calls.map(({ section }) => section)), names)
  t.equal(calls.length, names.size)
  const overview = read('README.md')
  t.strictSame(new Set([...overview.matchAll(/^\| \[([^\]]+)\]\(hosts\.md#/gm)].map(([, name]) => name)), names)
  for (const header of [...signatureHeaders, ...tokenHeaders]) t.ok(overview.includes(`\`${header}\``), header)
})

void t.test('the test delivery of each section is accepted', async (t) => {
  if (!requires(t, 'sh', 'curl', 'openssl')) return
  const lookup: ReceiverDeps['lookup'] = (namespace, name) =>
    namespace === 'plants' && name === 'line-1' ? { specRef: 'main', desiredRef: 'main', allowedRefs: undefined } : undefined
  const { served } = await serveReceiver(t, { keys: { hmac: ['a secret'], tokens: ['a-token'] }, more: { lookup } })
  const cwd = t.testdir({ 'webhook-secret': 'a secret\n', 'webhook-token': 'a-token\n' })
  t.ok(definitions?.text.includes('https://receiver.example/'))
  for (const { section, text } of calls) {
    const script = `${definitions?.text}${text}`
    const { stdout } = await promisify(execFile)('sh', ['-c', script.replace('https://receiver.example', served.url)], {
      cwd,
      timeout: 20_000,
    })
    matchObject(t, JSON.parse(stdout), { accepted: true, ref: 'main', source: 'push' }, section)
  }
})
