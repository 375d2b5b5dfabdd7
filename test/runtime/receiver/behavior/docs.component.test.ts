/**
 * Tests docs/how-to/webhooks: every host has a section and a row, and a delivery in its format is accepted.
 */
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import type { ReceiverDeps } from '../../../../runtime/receiver/receiver-deps.ts'
import { signatureHeaders, tokenHeaders } from '../../../../runtime/receiver/authenticate.ts'
import { hosts } from '../../../../runtime/receiver/payload/payload.ts'
import { matchObject } from '../../../support/assertions.ts'
import { serveReceiver } from '../../../support/receiver-app.ts'

const folder = path.resolve(import.meta.dirname, '../../../../docs/how-to/webhooks')
const read = (file: string): string => readFileSync(path.join(folder, file), 'utf8')
const names = hosts.map(({ name }) => name).toSorted()

void t.test('each host of the table has one section and one row, and each authentication header is documented', async (t) => {
  const sections = [...read('hosts.md').matchAll(/^## (.*)$/gm)].map(([, name = '']) => name)
  t.strictSame(sections.toSorted(), names)
  const overview = read('README.md')
  const rows = [...overview.matchAll(/^\| \[([^\]]+)\]\(hosts\.md#/gm)].map(([, name = '']) => name)
  t.strictSame(rows.toSorted(), names)
  for (const header of [...signatureHeaders, ...tokenHeaders]) t.ok(overview.includes(`\`${header}\``), header)
})

const before = '0'.repeat(40)
const after = 'f'.repeat(40)
const push = { ref: 'refs/heads/main', before, after }
const created = { old: null, new: { type: 'branch', name: 'main' } }
const context = { version: '0.4.1', id: '1', source: '/ci', type: 'dev.cdevents.change.merged.0.2.0', timestamp: '2026-03-01T12:00:00Z' }

/** By host: a body, and the headers that authenticate it by its HMAC or by the token `a-token`. */
const deliveries: Readonly<Record<string, { body: object; headers: (mac: string) => Record<string, string> }>> = {
  GitHub: { body: push, headers: (mac) => ({ 'x-github-event': 'push', 'x-hub-signature-256': `sha256=${mac}` }) },
  GitLab: { body: { object_kind: 'push', ...push }, headers: () => ({ 'x-gitlab-event': 'Push Hook', 'x-gitlab-token': 'a-token' }) },
  Gitea: { body: push, headers: (mac) => ({ 'x-gitea-event': 'push', 'x-gitea-signature': mac }) },
  Forgejo: { body: push, headers: (mac) => ({ 'x-forgejo-event': 'push', 'x-forgejo-signature': mac }) },
  Gogs: { body: push, headers: (mac) => ({ 'x-gogs-event': 'push', 'x-gogs-signature': mac }) },
  'Azure DevOps': {
    body: { publisherId: 'tfs', eventType: 'git.push', resource: { refUpdates: [{ name: push.ref, newObjectId: after }] } },
    headers: () => ({ authorization: 'Bearer a-token' }),
  },
  Bitbucket: {
    body: { push: { changes: [created] } },
    headers: (mac) => ({ 'x-event-key': 'repo:push', 'x-hub-signature': `sha256=${mac}` }),
  },
  Gitee: { body: push, headers: () => ({ 'x-gitee-event': 'Push Hook', 'x-gitee-token': 'a-token' }) },
  Harness: {
    body: { trigger: 'branch_updated', ref: { name: push.ref }, sha: after },
    headers: (mac) => ({ 'x-harness-trigger': 'branch_updated', 'x-harness-signature': mac }),
  },
  CDEvents: {
    body: { context, subject: { id: '42', type: 'change', content: {} } },
    headers: () => ({ authorization: 'Bearer a-token' }),
  },
}

void t.test('a delivery of each host is accepted', async (t) => {
  t.strictSame(Object.keys(deliveries).toSorted(), names)
  const lookup: ReceiverDeps['lookup'] = (namespace, name) =>
    namespace === 'plants' && name === 'line-1' ? { specRef: 'main', desiredRef: 'main', allowedRefs: undefined } : undefined
  const { served } = await serveReceiver(t, { keys: { hmac: ['a secret'], tokens: ['a-token'] }, more: { lookup } })
  for (const [host, { body, headers }] of Object.entries(deliveries)) {
    const text = JSON.stringify(body)
    const mac = createHmac('sha256', 'a secret').update(text).digest('hex')
    const answer = await fetch(`${served.url}/webhook/plants/line-1`, {
      method: 'POST',
      body: text,
      headers: { 'content-type': 'application/json', ...headers(mac) },
    })
    matchObject(t, await answer.json(), { accepted: true, ref: 'main', source: 'push' }, host)
  }
})
