/**
 * The kubeconfig of another cluster: credentials in the file are accepted, and nothing that would run a program or read a file of the pod.
 */
import t from 'tap'
import { Fault } from '../../../runtime/platform/fault.ts'
import { remoteKubeconfig } from '../../../runtime/kube/remote-kubeconfig.ts'

const server = 'https://plant-b.example:6443'

function written(cluster: object, user: object, more: object = {}): string {
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [
      { name: 'other', cluster: { server: 'https://other.example', 'insecure-skip-tls-verify': true } },
      { name: 'b', cluster },
    ],
    users: [{ name: 'hub', user }],
    contexts: [{ name: 'hub@b', context: { cluster: 'b', user: 'hub', namespace: 'plant' } }],
    'current-context': 'hub@b',
    ...more,
  })
}

async function refusal(text: string): Promise<string> {
  try {
    await remoteKubeconfig(text)
    return 'accepted'
  } catch (error) {
    return error instanceof Fault && error.reason === 'InvalidConfiguration' ? error.message : String(error)
  }
}

void t.test('cluster and credentials of the current context are used', async (t) => {
  const token = await remoteKubeconfig(
    written({ server, 'certificate-authority-data': 'Y2E=', 'tls-server-name': 'kubernetes' }, { token: 'secret' }),
  )
  const { server: own, caData, tlsServerName, skipTLSVerify } = token.getCurrentCluster() ?? {}
  t.strictSame(
    { own, caData, tlsServerName, skipTLSVerify },
    { own: server, caData: 'Y2E=', tlsServerName: 'kubernetes', skipTLSVerify: false },
  )
  t.equal(token.getCurrentUser()?.token, 'secret')
  const certificate = await remoteKubeconfig(written({ server }, { 'client-certificate-data': 'Yw==', 'client-key-data': 'aw==' }))
  const { certData, keyData } = certificate.getCurrentUser() ?? {}
  t.strictSame({ certData, keyData }, { certData: 'Yw==', keyData: 'aw==' })
  const yaml = `current-context: c
clusters: [{ name: b, cluster: { server: ${server} } }]
users: [{ name: hub, user: { token: secret } }]
contexts: [{ name: c, context: { cluster: b, user: hub } }]`
  t.equal((await remoteKubeconfig(yaml)).getCurrentCluster()?.server, server)
})

void t.test('whatever reads files or runs programs here, skips verification or is not supported is refused by its key', async (t) => {
  const cases: [cluster: object, user: object, where: string][] = [
    [{ server }, { exec: { command: 'sh' } }, 'user "hub" has exec'],
    [{ server }, { 'auth-provider': { name: 'gcp' } }, 'user "hub" has auth-provider'],
    [{ server }, { 'token-file': '/var/run/secrets/kubernetes.io/serviceaccount/token' }, 'user "hub" has token-file'],
    [{ server }, { tokenFile: '/var/run/secrets/kubernetes.io/serviceaccount/token' }, 'user "hub" has tokenFile'],
    [{ server }, { 'client-key': '/etc/cluster-sync/certificate/tls.key' }, 'user "hub" has client-key'],
    [{ server, 'certificate-authority': '/etc/ca.crt' }, {}, 'cluster "b" has certificate-authority'],
    [{ server, 'insecure-skip-tls-verify': true }, {}, 'cluster "b" has insecure-skip-tls-verify'],
    [{ server, 'proxy-url': 'http://proxy' }, {}, 'cluster "b" has proxy-url'],
  ]
  for (const [cluster, user, where] of cases)
    t.equal(await refusal(written(cluster, user)), `the kubeconfig cannot be used: ${where}, which is not supported`)
  t.equal(
    await refusal(written({ server: 'http://plain.example' }, {})),
    'the kubeconfig cannot be used: cluster "b", server: must begin with https://',
  )
})

void t.test('a file that is no kubeconfig is refused without its content', async (t) => {
  t.equal(await refusal('{ "token": "hunter2'), 'the kubeconfig cannot be used: it is not valid YAML')
  t.equal(await refusal('hunter2'), 'the kubeconfig cannot be used: document: not as kubectl writes it')
  t.equal(await refusal(written({ server }, {}, { 'current-context': 'none' })), 'the kubeconfig cannot be used: it has no context "none"')
  t.equal(await refusal(written({ server }, {}, { users: [] })), 'the kubeconfig cannot be used: it has no user "hub"')
})
