/**
 * Tests recorded deliveries of every supported host through the whole receiver, signed as the host signs. Each is answered 2xx, and a
 * resource that follows the named ref is requested to sync.
 */
import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { requestAnnotations } from '../../../runtime/api/names.ts'
import { receiverApp } from '../../../runtime/receiver/app.ts'
import { sharedData } from '../../support/requires.ts'
import { indexOf } from '../../support/receiver-app.ts'

type Delivery = {
  file: string
  host: string
  headers: Record<string, string>
  expectedRef: string | null
  alternatives?: (string | null)[]
  kind: string
}

/** The signature headers of hosts that sign; the other hosts send a token. */
const signatures: Record<string, (mac: string) => Record<string, string>> = {
  github: (mac) => ({ 'x-hub-signature-256': `sha256=${mac}` }),
  ghes: (mac) => ({ 'x-hub-signature-256': `sha256=${mac}` }),
  gitea: (mac) => ({ 'x-gitea-signature': mac }),
  forgejo: (mac) => ({ 'x-forgejo-signature': mac }),
  gogs: (mac) => ({ 'x-gogs-signature': mac }),
  harness: (mac) => ({ 'x-harness-signature': mac }),
  'bitbucket-cloud': (mac) => ({ 'x-hub-signature': `sha256=${mac}` }),
  'bitbucket-server': (mac) => ({ 'x-hub-signature': `sha256=${mac}` }),
  'bitbucket-server-plugin': (mac) => ({ 'x-hub-signature': `sha256=${mac}` }),
}
const tokens: Record<string, Record<string, string>> = {
  gitlab: { 'x-gitlab-token': 'token' },
  gitee: { 'x-gitee-token': 'token' },
}

void t.test('no real delivery of a supported host is answered with an error, and the desired ref is requested', async (t) => {
  const index = sharedData(t, 'webhooks/index.json')
  if (index === undefined) return
  const deliveries = JSON.parse(readFileSync(index, 'utf8')) as Delivery[]
  for (const { file, host, headers, expectedRef, alternatives = [], kind } of deliveries) {
    const requests: Record<string, string>[] = []
    const name = expectedRef ?? alternatives.find((ref) => ref !== null) ?? 'main'
    const isTag = kind === 'push-tag' || kind.startsWith('release-')
    const desiredRef = name.startsWith('refs/') || host === 'generic' ? name : `refs/${isTag ? 'tags' : 'heads'}/${name}`
    const app = receiverApp({
      lookup: () => ({ specRef: 'main', desiredRef, allowedRefs: undefined }),
      syncs: () => indexOf(['plant']),
      keys: async () => ({ hmac: ['key'], tokens: ['token'] }),
      request: async (_namespace, _name, annotations) => void requests.push(annotations),
      observe() {},
      clock: systemClock,
      log: silentLog,
    })
    const body = readFileSync(path.join(path.dirname(index), file))
    const mac = createHmac('sha256', 'key').update(body).digest('hex')
    const authentication = signatures[host]?.(mac) ?? tokens[host] ?? { authorization: 'Bearer token' }
    const answer = await app.request('/webhook/default/plant', { method: 'POST', body, headers: { ...headers, ...authentication } })
    if (host === 'dockerhub' || host === 'harbor') t.equal(answer.status, 422, file)
    else t.ok(answer.status === 200 || answer.status === 202, `${file}: ${answer.status}`)
    t.ok(requests.length === 1 || expectedRef === null || alternatives.includes(null), `${file} asks for ${expectedRef}`)
    for (const { [requestAnnotations.ref]: ref } of requests) t.equal(ref, desiredRef, `${file} names the full ref`)
    t.ok(requests.length === 0 || expectedRef !== null || alternatives.length > 0, `${file} asks for nothing`)
  }
})
