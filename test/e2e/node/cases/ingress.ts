/**
 * A push through the Ingress: TLS ends at the edge, and a signed body arrives unchanged. No Ingress controller is available as a Go module,
 * so nginx serves the Ingress object on the node's own address.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { request } from 'node:https'
import path from 'node:path'
import type { Test } from 'tap'
import { nodeAddress } from '../../../cluster/node/configuration.ts'
import { programPath } from '../../../cluster/node/start.ts'
import { makeAuthority } from '../../../support/authority.ts'
import type { Repository } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import { until } from '../../../support/world.ts'
import { type Cluster, hookHost, inOperator, operator, patience, pushKey, receiverUrl, untilSynced } from '../cluster.ts'
import { plant } from './install.ts'

const port = 8443
const receiver = `${operator.name}-webhook-receiver`

type Ingress = {
  spec: {
    tls: { secretName: string; hosts: string[] }[]
    rules: { host: string; http: { paths: { path: string; pathType: string; backend: { service: { name: string } } }[] } }[]
  }
}

export async function pushThroughIngress(t: Test, cluster: Cluster, repository: Repository): Promise<void> {
  if (!requires(t, 'nginx')) return
  const folder = path.join(cluster.given.work, 'edge')
  const { certificate, server } = await makeAuthority(path.join(folder, 'authority'), 'an authority of the edge', [hookHost])
  const { spec } = await cluster.get<Ingress>('ingress', receiver, inOperator)
  const secret = spec.tls[0]?.secretName ?? ''
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/tls',
    metadata: { namespace: operator.namespace, name: secret },
    stringData: { 'tls.crt': server.certificate, 'tls.key': server.key },
  })
  await serveIngress(t, cluster, folder, { ...spec, secret })
  const send = (where: string, body: Buffer, signed: Buffer = body) => post(certificate, where, body, signed)

  // Like the body of a git host: with spaces, non-ASCII letters and more than one packet. Parsed and serialized again, it would have
  // another signature.
  const commit = repository.commit({ 'services/projects/pushed.txt': 'through the Ingress' })
  const told = { ref: 'refs/heads/main', before: '0'.repeat(39) + '1', after: commit, pusher: { name: 'Ärzte 東京' } }
  const body = Buffer.from(
    JSON.stringify({ ...told, commits: Array.from({ length: 2_000 }, (_, id) => ({ id, message: 'ü'.repeat(40) })) }, undefined, 1),
  )
  const where = `/webhook/${plant.namespace}/plant`
  await until(async () => ((await send(where, body).catch(() => 0)) === 202 ? true : undefined), 'the push is taken', patience.waitMs)
  await untilSynced(cluster, plant, 'plant', repository, commit)

  const changed = Buffer.from(body)
  changed.write('x', changed.length - 10)
  t.equal(await send(where, changed, body), 401, 'a body that somebody changed on the way is refused')
  t.equal(await send('/healthz', body), 404, 'no other path leads anywhere')
}

/** Starts nginx with the rules of an Ingress; resolves when it accepts connections. */
async function serveIngress(
  t: Test,
  cluster: Cluster,
  folder: string,
  { rules, secret }: Ingress['spec'] & { secret: string },
): Promise<void> {
  const backend = await receiverUrl(cluster)
  mkdirSync(folder, { recursive: true })
  const { data } = await cluster.get<{ data: Record<string, string> }>('secret', secret, inOperator)
  for (const name of ['tls.crt', 'tls.key'])
    writeFileSync(path.join(folder, name), Buffer.from(data[name] ?? '', 'base64'), { mode: 0o600 })
  const servers = rules.map(({ host, http }) => {
    const locations = http.paths.map(({ path: prefix, pathType, backend: { service } }) => {
      if (pathType !== 'Prefix' || service.name !== receiver) throw new Error(`${pathType} ${service.name} is not what this edge knows`)
      const headers =
        'proxy_set_header Host $host; proxy_set_header X-Forwarded-For $remote_addr; proxy_set_header X-Forwarded-Proto https;'
      return `location ${prefix.replace(/\/?$/, '/')} { proxy_pass ${backend}; ${headers} }`
    })
    const certificate = `ssl_certificate ${folder}/tls.crt; ssl_certificate_key ${folder}/tls.key;`
    return `server { listen ${nodeAddress}:${port} ssl; server_name ${host}; ${certificate} ${locations.join(' ')} location / { return 404; } }`
  })
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${folder}/${name};`)
  const file = path.join(folder, 'nginx.conf')
  const http = `http { access_log off; client_max_body_size 1m; ${temporary.join(' ')} ${servers.join('\n')} }`
  writeFileSync(file, `user root; daemon off; worker_processes 1; pid ${folder}/pid; error_log stderr crit;\nevents { }\n${http}\n`)
  const nginx = spawn('nginx', ['-p', folder, '-e', 'stderr', '-c', file], {
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PATH: programPath() },
  })
  t.teardown(async () => stop(nginx))
  const isGone = (): boolean => nginx.exitCode !== null || nginx.signalCode !== null
  await until(
    async () => {
      if (isGone()) throw new Error('nginx ended')
      return await post('', '/', Buffer.from('')).catch((error: NodeJS.ErrnoException) =>
        error.code === 'ECONNREFUSED' ? undefined : true,
      )
    },
    'nginx listens',
    patience.waitMs,
  )
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = new Promise((resolve) => child.once('exit', resolve))
  child.kill()
  await ended
}

/** Posts to the edge like GitHub, and returns the status. */
function post(ca: string, where: string, body: Buffer, signed: Buffer = body): Promise<number> {
  const signature = createHmac('sha256', pushKey).update(signed).digest('hex')
  const headers = {
    host: hookHost,
    'content-type': 'application/json',
    'content-length': body.length,
    'x-github-event': 'push',
    'x-hub-signature-256': `sha256=${signature}`,
  }
  return new Promise((resolve, reject) => {
    const options = {
      host: nodeAddress,
      port,
      servername: hookHost,
      ca,
      path: where,
      method: 'POST',
      headers,
      agent: false,
      timeout: 30_000,
    }
    const call = request(options, (response) => {
      response.resume()
      response.on('end', () => resolve(response.statusCode ?? 0))
    })
    call.on('timeout', () => call.destroy(new Error('no answer')))
    call.on('error', reject)
    call.end(body)
  })
}
