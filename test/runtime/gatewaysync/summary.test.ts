import t from 'tap'
import * as v from 'valibot'
import { gatewaySyncSpec } from '../../../runtime/gatewaysync/schema/spec.ts'
import { summarise } from '../../../runtime/gatewaysync/decide/summary.ts'

const at = '2026-01-01T00:00:00Z'
const commit = 'a'.repeat(40)
const secret = (key: string) => ({ secretRef: { name: 'git', key } })

function sourceReady(sshKey: Record<string, unknown>) {
  const spec = v.parse(gatewaySyncSpec({ allowLocal: false }), {
    git: { repo: 'git@git.example:plant.git', ref: 'main', auth: { sshKey: { ...secret('identity'), ...sshKey } } },
    sync: { profiles: { default: { mappings: [{ source: 'projects', destination: 'projects' }] } } },
  })
  const status = { source: { ref: 'main', commit } }
  const conditions = summarise({ generation: 1, spec, gateways: [], fault: undefined, pending: false, status, at }, [])
  return conditions.find(({ type }) => type === 'SourceReady')
}

void t.test('SourceReady says as long as it is so that any host key is taken', async (t) => {
  const checked = { status: 'True', reason: 'Fetched', message: `main is commit ${commit}` }
  t.match(sourceReady({ knownHosts: secret('known_hosts') }), checked)
  t.match(sourceReady({ knownHosts: secret('known_hosts'), insecureIgnoreHostKey: false }), checked)
  const message = `${checked.message}; the host key of the git host was not checked (insecureIgnoreHostKey)`
  t.match(sourceReady({ insecureIgnoreHostKey: true }), { ...checked, message })
  t.match(sourceReady({ knownHosts: secret('known_hosts'), insecureIgnoreHostKey: true }), { ...checked, message })
})
