/**
 * Starts etcd and kube-apiserver and detects when they are ready.
 */
import { generateKeyPairSync } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import * as https from 'node:https'
import path from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

/** A user that the API server authenticates by a token. */
export type Account = { token: string; user: string; groups: readonly string[] }

export type ApiServer = {
  folder: string
  etcdUrl: string
  /** The address in the certificate, at which pods reach the server. */
  address: string
  port: number
  accounts: readonly Account[]
}

/** The self-signed certificate of the server, which clients trust. */
export function caFileOf(folder: string): string {
  return path.join(folder, 'certificates/apiserver.crt')
}

export function etcdArguments(folder: string, url: string, peerUrl: string): string[] {
  return [
    `--data-dir=${path.join(folder, 'etcd')}`,
    '--unsafe-no-fsync=true',
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peerUrl}`,
    '--log-level=error',
  ]
}

/** Writes the files that the server needs and returns its flags. */
export function apiServerArguments({ folder, etcdUrl, address, port, accounts }: ApiServer): `--${string}=${string}`[] {
  const at = (name: string): string => path.join(folder, name)
  const rows = accounts.map(({ token, user, groups }) => `${token},${user},${user},"${groups.join(',')}"\n`)
  writeFileSync(at('tokens.csv'), rows.join(''), { mode: 0o600 })
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  writeFileSync(at('sa.pub'), publicKey.export({ type: 'spki', format: 'pem' }))
  writeFileSync(at('sa.key'), privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 })
  mkdirSync(path.dirname(caFileOf(folder)))
  return [
    `--etcd-servers=${etcdUrl}`,
    `--secure-port=${port}`,
    `--bind-address=${address}`,
    `--advertise-address=${address}`,
    `--cert-dir=${path.dirname(caFileOf(folder))}`,
    '--service-cluster-ip-range=10.96.0.0/16',
    '--authorization-mode=RBAC',
    `--token-auth-file=${at('tokens.csv')}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${at('sa.pub')}`,
    `--service-account-signing-key-file=${at('sa.key')}`,
    '--endpoint-reconciler-type=none',
    '--allow-privileged=true',
    '--profiling=false',
  ]
}

/** Merges flags; the given ones replace defaults of the same name. */
export function replaced<Flag extends string>(flags: readonly Flag[], given: readonly Flag[]): Flag[] {
  const nameOf = (flag: string): string => flag.slice(0, flag.indexOf('='))
  const names = new Set(given.map(nameOf))
  return [...flags.filter((flag) => !names.has(nameOf(flag))), ...given]
}

export function writeKubeconfig(file: string, { url, caFile, token }: { url: string; caFile: string; token: string }): string {
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'test', cluster: { server: url, 'certificate-authority': caFile } }],
    users: [{ name: 'test', user: { token } }],
    contexts: [{ name: 'test', context: { cluster: 'test', user: 'test' } }],
    'current-context': 'test',
  }
  writeFileSync(file, JSON.stringify(config), { mode: 0o600 })
  return file
}

export async function untilApiServerReady(url: string, caFile: string, token: string): Promise<void> {
  const endMs = Date.now() + 120_000
  while (Date.now() < endMs) {
    if (await isReady(`${url}/readyz`, caFile, token)) return
    await wait(50)
  }
  throw new Error('kube-apiserver was not ready within 120 s')
}

function isReady(url: string, caFile: string, token: string): Promise<boolean> {
  return new Promise((resolve) => {
    try {
      const request = https.get(
        url,
        { ca: readFileSync(caFile), headers: { authorization: `Bearer ${token}` }, timeout: 2000 },
        (response) => {
          response.resume()
          resolve(response.statusCode === 200)
        },
      )
      request.on('error', () => resolve(false))
      request.on('timeout', () => request.destroy())
    } catch {
      resolve(false)
    }
  })
}
