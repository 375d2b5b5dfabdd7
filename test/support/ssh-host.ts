/**
 * OpenSSH's server as a git host on loopback, for the user that runs the tests.
 */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { environmentOf, type HostMode } from './git-host.ts'
import { freePort } from './ports.ts'

export type SshHost = {
  port: number
  user: string
  /** Lines in ssh-keyscan format for the current host key. */
  knownHosts(): string
  /** Changes the host key. */
  changeHostKey(): Promise<void>
  stop(): Promise<void>
}

/** The text of a private key and of its public key. */
export function makeSshKey(folder: string, name: string, passphrase = ''): { privateKey: string; publicKey: string } {
  mkdirSync(folder, { recursive: true })
  const file = path.join(folder, name)
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', passphrase, '-C', name, '-f', file])
  return { privateKey: readFileSync(file, 'utf8'), publicKey: readFileSync(`${file}.pub`, 'utf8') }
}

/** Serves every repository that the user may read to clients with one of these keys. */
export async function startSshHost(
  folder: string,
  publicKeys: readonly string[],
  { address = '127.0.0.1', mode = 'v2' }: { address?: string; mode?: HostMode } = {},
): Promise<SshHost> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  // sshd run by root needs the system's privilege separation folder.
  if (process.getuid?.() === 0) mkdirSync('/run/sshd', { recursive: true })
  const authorized = path.join(folder, 'authorized_keys')
  writeFileSync(authorized, publicKeys.join(''), { mode: 0o600 })
  const port = await freePort()
  let keys = 0
  let child: ReturnType<typeof spawn> | undefined
  let hostKey = ''
  const start = async (): Promise<void> => {
    const name = `host-${(keys += 1)}`
    hostKey = makeSshKey(folder, name).publicKey
    const config = path.join(folder, 'sshd_config')
    const lines = [
      `Port ${port}`,
      `ListenAddress ${address}`,
      `HostKey ${path.join(folder, name)}`,
      `AuthorizedKeysFile ${authorized}`,
      `PidFile ${path.join(folder, 'pid')}`,
      'StrictModes no',
      'UsePAM no',
      'PasswordAuthentication no',
      'KbdInteractiveAuthentication no',
      'PermitRootLogin prohibit-password',
      // A default sshd accepts no such variables.
      ...(mode === 'v2' ? ['AcceptEnv GIT_PROTOCOL'] : []),
      // The shell of each connection would read this user's start-up files.
      `SetEnv ${Object.entries({ ...environmentOf(mode), HOME: folder })
        .map(([name, value]) => `"${name}=${value}"`)
        .join(' ')}`,
    ]
    writeFileSync(config, `${lines.join('\n')}\n`)
    child = spawn('/usr/sbin/sshd', ['-D', '-e', '-f', config], { stdio: 'ignore' })
    await untilListening(port, address)
  }
  const stop = async (): Promise<void> => {
    if (child === undefined || child.exitCode !== null) return
    const ended = once(child, 'exit')
    child.kill()
    await ended
  }
  await start()
  return {
    port,
    user: os.userInfo().username,
    knownHosts: () => `[${address}]:${port} ${hostKey}`,
    async changeHostKey() {
      await stop()
      await start()
    },
    stop,
  }
}

async function untilListening(port: number, address: string): Promise<void> {
  for (let tries = 0; tries < 500; tries += 1) {
    const socket = connect(port, address)
    const listens = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true))
      socket.once('error', () => resolve(false))
    })
    socket.destroy()
    if (listens) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error('sshd does not listen')
}
