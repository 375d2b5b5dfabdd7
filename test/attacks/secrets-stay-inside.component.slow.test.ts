/**
 * No part of a secret leaves the process that needs it: not in an argument, a file, a log, a message or a mirror.
 */
import { readdirSync, readFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { asFault } from '../../runtime/platform/fault.ts'
import { gitSpec } from '../../runtime/api/schema/git-spec.ts'
import { createLog } from '../../runtime/platform/log/log.ts'
import { openNetwork } from '../../runtime/git/remote/network.ts'
import { createMirrors } from '../../runtime/git/mirrors.ts'
import { createRemotes } from '../../runtime/git/remotes.ts'
import * as v from 'valibot'
import { readSecrets, type Secrets } from '../support/access-remotes.ts'
import { startGitHost } from '../support/git-host.ts'
import { makeAuthority } from '../support/authority.ts'
import { temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'
import { makeSshKey, startSshHost } from '../support/ssh-host.ts'

/** The command lines of all processes, which any user of this machine may read. */
function argumentsOfAll(): string {
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'latin1')
      } catch {
        return ''
      }
    })
    .join('\n')
}

function contentsBelow(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => {
      try {
        return `${entry.name}\n${readFileSync(path.join(entry.parentPath, entry.name), 'latin1')}`
      } catch {
        return entry.name
      }
    })
    .join('\n')
}

/** Twelve characters or more of a secret found in the text: plain, base64 or percent-encoded. */
function partsIn(text: string, secret: string): string[] {
  const forms = [secret, Buffer.from(secret).toString('base64'), encodeURIComponent(secret)]
  const parts = forms.flatMap((form) => Array.from({ length: form.length - 11 }, (_none, at) => form.slice(at, at + 12)))
  return parts.filter((part) => text.includes(part)).map((part) => text.slice(text.indexOf(part) - 60, text.indexOf(part) + 60))
}

/** A secret that occurs nowhere else on this machine, with characters that are special in shells, URLs and headers. */
const secretText = fc
  .tuple(fc.uint8Array({ minLength: 24, maxLength: 24 }), fc.constantFrom('', ':', '@', '/', '%40', '"', "'", '$x', '&', '\\', ' '))
  .map(
    ([bytes, odd]) => `${Buffer.from(bytes).toString('base64url').slice(0, 16)}${odd}${Buffer.from(bytes).toString('hex').slice(20, 40)}`,
  )
  .filter((secret) => new Set(secret).size > 14)

void t.test('no part of a secret is visible, whatever the secret is and however the host answers', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'ssh', 'ssh-agent', 'ssh-keygen', 'openssl')) return
  const folder = temporaryFolder(t, 'inside')
  const authority = await makeAuthority(folder, 'Plant CA')
  let status = 401
  const host = await startGitHost(path.join(folder, 'git'), {
    tls: { key: authority.server.key, cert: authority.server.certificate },
    before({ headers }, response) {
      if (status === 200) return false
      // A host that echoes the request headers to every caller.
      response.writeHead(status, { 'content-type': 'text/plain', 'www-authenticate': 'Basic realm="git"' }).end(JSON.stringify(headers))
      return true
    },
  })
  t.teardown(async () => host.stop())
  host.repository('plant.git').commit({ a: '1' })
  const sshHost = await startSshHost(path.join(folder, 'sshd'), [])
  t.teardown(async () => sshHost.stop())
  const seen: string[] = []
  const log = createLog({ level: 'debug', destination: { write: (line: string) => void seen.push(line) } })
  const secrets: Secrets = {}
  const signal = AbortSignal.timeout(190_000)
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log })
  t.teardown(async () => mirrors.close())
  const remoteOf = createRemotes({
    allowLocal: false,
    allowedHosts: [],
    readSecret: readSecrets(secrets),
    network: openNetwork,
    clock: systemClock,
    signal,
  })
  let keys = 0
  const ask = async (git: Record<string, unknown>): Promise<void> => {
    let asking = true
    const looking = (async () => {
      while (asking) {
        seen.push(argumentsOfAll())
        await new Promise((resolve) => setTimeout(resolve, 5))
      }
    })()
    try {
      const mirror = mirrors.of(await remoteOf('plant', v.parse(gitSpec({ allowLocal: false }), { ref: 'main', ...git }), signal))
      await mirror.resolve('main', { fresh: true }, signal)
    } catch (error) {
      const fault = asFault(error)
      log.warn({ err: error }, 'asked')
      seen.push(`${fault.reason} ${fault.message} ${String(fault.stack)} ${String(fault.cause)}`)
    } finally {
      asking = false
      await looking
    }
    seen.push(contentsBelow(path.join(folder, 'mirrors')), readdirSync(os.tmpdir()).join('\n'))
  }
  const caBundle = { secretRef: { name: 'git', key: 'ca.crt' } }
  const repo = host.url('plant.git/.git')
  const ssh = `ssh://${sshHost.user}@127.0.0.1:${sshHost.port}/plant.git`
  const sshKey = { secretRef: { name: 'ssh', key: 'identity' }, passphrase: { secretRef: { name: 'ssh', key: 'passphrase' } } }
  await fc.assert(
    fc.asyncProperty(secretText, secretText, fc.constantFrom(200, 401, 403, 404, 500), async (secret, another, answer) => {
      status = answer
      seen.length = 0
      const { privateKey } = makeSshKey(folder, `key-${(keys += 1)}`, another)
      secrets['git'] = { 'ca.crt': authority.certificate, token: secret, username: 'plant', password: another }
      secrets['ssh'] = { identity: privateKey, passphrase: another, known_hosts: sshHost.knownHosts() }
      secrets['proxy'] = { url: `http://plant:${encodeURIComponent(another)}@127.0.0.1:1` }
      await ask({ repo, caBundle, auth: { token: { secretRef: { name: 'git', key: 'token' } } } })
      await ask({ repo, caBundle, auth: { basic: { secretRef: { name: 'git' } } }, proxy: { secretRef: { name: 'proxy' } } })
      await ask({ repo: ssh, auth: { sshKey: { ...sshKey, knownHosts: { secretRef: { name: 'ssh', key: 'known_hosts' } } } } })
      const text = seen.join('\n')
      const key = privateKey.split('\n').slice(1, -2)
      const parts = [secret, another].flatMap((one) => partsIn(text, one))
      return t.strictSame([...parts, ...key.filter((line) => text.includes(line))], [])
    }),
    { numRuns: 5, endOnFailure: true },
  )
})
