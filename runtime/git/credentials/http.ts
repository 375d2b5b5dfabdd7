/**
 * Prepares credentials, CA bundle and proxy of one call over http or https. Secrets reach git in its environment, or in unlinked files that only this
 * git process inherits: never as arguments, and nothing remains on a disk after a crash.
 */
import { closeSync } from 'node:fs'
import os from 'node:os'
import { isIP } from 'node:net'
import type { RepositoryUrl } from '../../api/schema/repository-url.ts'
import type { GitRun } from '../command/git.ts'
import { httpTrace } from '../command/http-trace.ts'
import { openUnnamedFile } from '../command/unnamed-file.ts'
import type { Proxy } from '../remote/proxy.ts'
import { requireCertificate, requireKeyPair } from '../remote/pem.ts'
import type { Access } from '../remote/remote.ts'

/** The inputs of one git process. `release` must be called when it has ended; it closes the files. */
export type Prepared = { forGit: Pick<GitRun, 'settings' | 'environment' | 'files'>; release(): Promise<void> }

/**
 * Makes the inputs, just before git starts: what a call holds while it waits for its turn would fill the temporary files that all namespaces
 * share.
 */
export type Prepare = (signal: AbortSignal) => Promise<Prepared>

type Call = {
  url: RepositoryUrl
  access: Access
  proxy: Proxy | undefined
  /** The only addresses to connect to; undefined: git resolves the name. */
  addresses: readonly string[] | undefined
}

/** Throws CredentialsInvalid, and what requesting a token of a GitHub App throws. */
export async function prepareHttp({ url, access, proxy, addresses }: Call, signal: AbortSignal): Promise<Prepare> {
  const { credentials, caBundle } = access
  if (caBundle !== undefined) requireCertificate(caBundle, 'spec.git.caBundle')
  if (credentials.kind === 'clientCertificate') requireKeyPair(credentials, 'spec.git.auth.clientCertificate')
  const secrets: [key: string, value: string][] = []
  const header = await authorization(access, signal)
  // Only for this scheme, host and port, so that the credential is sent nowhere else.
  if (header !== undefined) secrets.push([`http.${originOf(url)}/.extraHeader`, `Authorization: ${header}`])
  if (proxy !== undefined) secrets.push(['http.proxy', proxy.url])
  const environment = { ...httpTrace, ...configured(secrets) }
  return async () => inputsOf({ url, access, proxy, addresses }, environment)
}

function inputsOf({ url, access: { credentials, caBundle }, proxy, addresses }: Call, environment: Record<string, string>): Prepared {
  const files: number[] = []
  const fileOf = (content: string): string => `/proc/self/fd/${2 + files.push(openUnnamedFile(os.tmpdir(), `${content}\n`))}`
  try {
    const settings = [
      ...(caBundle === undefined ? [] : [`http.sslCAInfo=${fileOf(caBundle)}`]),
      ...(credentials.kind === 'clientCertificate'
        ? [`http.sslCert=${fileOf(credentials.certificate)}`, `http.sslKey=${fileOf(credentials.key)}`]
        : []),
      ...(addresses === undefined ? [] : [`http.curloptResolve=${pinned(proxy ?? { host: url.host, port: portOf(url) }, addresses)}`]),
    ]
    return { forGit: { settings, environment, files }, release: async () => closeAll(files) }
  } catch (error) {
    closeAll(files)
    throw error
  }
}

async function authorization({ credentials }: Access, signal: AbortSignal): Promise<string | undefined> {
  const basic = (username: string, password: string): string => `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  if (credentials.kind === 'basic') return basic(credentials.username, credentials.password)
  if (credentials.kind === 'githubApp') return basic('x-access-token', await credentials.token(signal))
  return undefined
}

/** Settings of git in its environment, which only this user's processes can read; git.ts passes the others as arguments. */
function configured(entries: readonly (readonly [key: string, value: string])[]): Record<string, string> {
  const numbered = entries.flatMap(([key, value], index) => [
    [`GIT_CONFIG_KEY_${index}`, key],
    [`GIT_CONFIG_VALUE_${index}`, value],
  ])
  return entries.length === 0 ? {} : { GIT_CONFIG_COUNT: String(entries.length), ...Object.fromEntries(numbered) }
}

function closeAll(files: readonly number[]): void {
  for (const file of files) closeSync(file)
}

function originOf({ protocol, host, port }: RepositoryUrl): string {
  return `${protocol}://${bracketed(host)}${port === undefined ? '' : `:${port}`}`
}

function portOf({ protocol, port }: RepositoryUrl): number {
  return port ?? (protocol === 'https' ? 443 : 80)
}

function pinned({ host, port }: { host: string; port: number }, addresses: readonly string[]): string {
  return `${bracketed(host)}:${port}:${addresses.map(bracketed).join(',')}`
}

function bracketed(host: string): string {
  return isIP(host) === 6 ? `[${host}]` : host
}
