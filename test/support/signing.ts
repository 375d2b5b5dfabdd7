/**
 * Keys and signatures as users make them: a separate GnuPG home, ssh-keygen, and commits and tags signed with either.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { gitEnvironment, type Repository, temporaryFolder } from './repository.ts'

/** Signs bytes; returns the armor that git stores. */
export type Sign = (payload: Buffer) => string

export type PgpIdentity = {
  fingerprint: string
  /** The current public key, armored. */
  publicKey(): Buffer
  privateKey(): Buffer
  /** `options` are for gpg, such as `--digest-algo SHA1`. */
  sign(...options: string[]): Sign
}

export type Gpg = {
  /** For git's `gpg.program`. */
  program: string
  /** Creates a signing key; `at` is its creation time, such as `20200101T000000`. */
  key(name: string, options?: { algorithm?: string; usage?: string; expire?: string; at?: string }): PgpIdentity
  /** Adds a signing subkey. */
  subkey(of: PgpIdentity, options?: { expire?: string; at?: string }): PgpIdentity
  revoke(key: PgpIdentity): void
}

export function makeGpg(t: Pick<Test, 'teardown'>): Gpg {
  const home = path.join(temporaryFolder(t, 'gpg'), 'home')
  mkdirSync(home, { mode: 0o700 })
  const env = { ...gitEnvironment, GNUPGHOME: home }
  const gpg = (args: readonly string[], input: Buffer | string = ''): Buffer =>
    execFileSync('gpg', ['--batch', '--quiet', '--no-tty', '--pinentry-mode', 'loopback', '--passphrase', '', ...args], {
      env,
      input,
      stdio: ['pipe', 'pipe', 'ignore'],
    })
  const program = path.join(path.dirname(home), 'gpg')
  writeFileSync(program, `#!/bin/sh\nGNUPGHOME='${home}' exec gpg "$@"\n`, { mode: 0o755 })
  t.teardown(() => execFileSync('gpgconf', ['--kill', 'all'], { env }))
  const faked = (at: string | undefined): string[] => (at === undefined ? [] : ['--faked-system-time', `${at}!`])
  const fingerprints = (name: string): string[] =>
    gpg(['--list-keys', '--with-colons', name])
      .toString('latin1')
      .split('\n')
      .filter((line) => line.startsWith('fpr:'))
      .map((line) => line.split(':')[9] ?? '')
  const identity = (fingerprint: string, primary: string): PgpIdentity => ({
    fingerprint,
    publicKey: () => gpg(['--armor', '--export', primary]),
    privateKey: () => gpg(['--armor', '--export-secret-keys', primary]),
    sign:
      (...options) =>
      (payload) =>
        gpg([...options, '--armor', '--local-user', `${fingerprint}!`, '--detach-sign', '--output', '-'], payload).toString('latin1'),
  })
  return {
    program,
    key(name, { algorithm = 'ed25519', usage = 'sign', expire = 'never', at } = {}) {
      const user = `${name} <${name.toLowerCase()}@example.com>`
      gpg([...faked(at), '--quick-gen-key', user, algorithm, usage, expire])
      const [fingerprint = ''] = fingerprints(`=${user}`)
      return identity(fingerprint, fingerprint)
    },
    subkey({ fingerprint: primary }, { expire = 'never', at } = {}) {
      gpg([...faked(at), '--quick-add-key', primary, 'ed25519', 'sign', expire])
      return identity(fingerprints(primary).at(-1) ?? '', primary)
    },
    revoke({ fingerprint }) {
      const file = path.join(home, 'openpgp-revocs.d', `${fingerprint}.rev`)
      // A colon protects the certificate from use by mistake.
      gpg(['--import'], readFileSync(file, 'utf8').replace(/^:-----/m, '-----'))
    },
  }
}

export type SshIdentity = {
  fingerprint: string
  /** The line of the `.pub` file. */
  publicKey: string
  file: string
  /** Signs for another purpose than git if a namespace is given. */
  sign(namespace?: string): Sign
}

export function makeSshKey(folder: string, name: string, ...options: string[]): SshIdentity {
  const file = path.join(folder, name)
  execFileSync('ssh-keygen', [
    '-q',
    '-N',
    '',
    '-f',
    file,
    '-C',
    `${name}@example.com`,
    ...(options.length === 0 ? ['-t', 'ed25519'] : options),
  ])
  chmodSync(file, 0o600)
  const [, fingerprint = ''] = execFileSync('ssh-keygen', ['-l', '-f', `${file}.pub`])
    .toString('latin1')
    .split(' ')
  return {
    fingerprint,
    publicKey: readFileSync(`${file}.pub`, 'utf8'),
    file,
    sign:
      (namespace = 'git') =>
      (payload) =>
        execFileSync('ssh-keygen', ['-Y', 'sign', '-q', '-n', namespace, '-f', file], {
          input: payload,
          stdio: ['pipe', 'pipe', 'ignore'],
        }).toString('latin1'),
  }
}

/** The bytes of a commit or tag as git stores them. */
export function rawObject(repository: Repository, type: 'commit' | 'tag', id: string): Buffer {
  return repository.git('cat-file', type, id)
}

/** Adds a signature to the header of a commit, like git; the default header is that of a SHA-1 repository. */
export function signCommit(raw: Buffer, sign: Sign, header = 'gpgsig'): Buffer {
  const text = raw.toString('latin1')
  const end = text.indexOf('\n\n') + 1
  const signature = sign(raw).trimEnd().split('\n').join('\n ')
  return Buffer.from(`${text.slice(0, end)}${header} ${signature}\n${text.slice(end)}`, 'latin1')
}

/** Adds a signature to the end of a tag, like git. */
export function signTag(raw: Buffer, sign: Sign): Buffer {
  return Buffer.concat([raw, Buffer.from(sign(raw), 'latin1')])
}

/** Stores the bytes of an object; returns its ID. */
export function store(repository: Repository, type: 'commit' | 'tag', raw: Buffer): string {
  const file = path.join(repository.folder, '.git', 'object-to-store')
  writeFileSync(file, raw)
  return repository.git('hash-object', '-t', type, '-w', '--literally', file).toString('utf8').trim()
}
