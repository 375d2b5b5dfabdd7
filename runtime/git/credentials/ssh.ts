/**
 * Prepares the key and the host keys of one call over ssh. The private key reaches an ssh-agent of this call through a pipe and stays in its memory;
 * the agent ends with the call, and when this process is killed.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { Fault } from '../../platform/fault.ts'
import type { RepositoryUrl } from '../../api/schema/repository-url.ts'
import { shellWord } from '../command/shell-word.ts'
import type { Prepared } from './http.ts'
import { addKey, startAgent } from './ssh-agent.ts'
import type { Credentials } from '../remote/remote.ts'

type SshCredentials = Extract<Credentials, { kind: 'ssh' }>

/** How long an agent keeps its keys, so that one that could not be stopped removes them. Longer than any call of git. */
const keyLifetimeSeconds = 900
const connectTimeoutSeconds = 15
/** A host that does not respond for three of these is considered dead. */
const aliveIntervalSeconds = 10

/** `address`: the one to connect to; undefined: ssh resolves the host. Throws CredentialsInvalid, ToolMissing, GitKilled, Timeout. */
export async function prepareSsh(
  url: RepositoryUrl,
  credentials: Credentials,
  address: string | undefined,
  signal: AbortSignal,
): Promise<Prepared> {
  if (credentials.kind !== 'ssh') throw new Fault('CredentialsInvalid', 'a repository over SSH needs spec.git.auth.sshKey')
  const folder = mkdtempSync(path.join(os.tmpdir(), `cluster-sync-ssh-${process.pid}-`))
  const removeFolder = (): void => rmSync(folder, { recursive: true, force: true })
  try {
    const agent = await startAgent(path.join(folder, 'agent'), keyLifetimeSeconds, signal)
    const release = async (): Promise<void> => {
      await agent.stop()
      removeFolder()
    }
    try {
      await addKey(agent, { ...credentials, askProgram: writeAskProgram(folder) }, signal)
      const command = sshCommand(url, credentials, { folder, socket: agent.socket, address })
      return { forGit: { environment: { GIT_SSH_COMMAND: command, GIT_SSH_VARIANT: 'ssh' } }, release }
    } catch (error) {
      await release()
      throw error
    }
  } catch (error) {
    removeFolder()
    throw error
  }
}

/** A program that answers ssh-add's prompt once: a second prompt means that the passphrase was wrong. Holds no secret itself. */
function writeAskProgram(folder: string): string {
  const file = path.join(folder, 'passphrase')
  writeFileSync(file, '#!/bin/sh\ncase "$1" in Bad*) exit 1 ;; esac\nprintf \'%s\\n\' "$CLUSTER_SYNC_PASSPHRASE"\n')
  chmodSync(file, 0o700)
  return file
}

type SshConnection = { folder: string; socket: string; address: string | undefined }

function sshCommand(url: RepositoryUrl, { knownHosts }: SshCredentials, { folder, socket, address }: SshConnection): string {
  const hostsFile = knownHosts === undefined ? '/dev/null' : path.join(folder, 'known_hosts')
  if (knownHosts !== undefined) writeFileSync(hostsFile, `${knownHosts}\n`, { mode: 0o600 })
  const alias = url.port === undefined || url.port === 22 ? url.host : `[${url.host}]:${url.port}`
  const options = {
    BatchMode: 'yes',
    IdentityAgent: socket,
    IdentityFile: 'none',
    PreferredAuthentications: 'publickey',
    StrictHostKeyChecking: knownHosts === undefined ? 'no' : 'yes',
    UserKnownHostsFile: hostsFile,
    GlobalKnownHostsFile: '/dev/null',
    UpdateHostKeys: 'no',
    // The name under which known_hosts has the key of the host, regardless of its address.
    ...(address === undefined ? {} : { HostName: address, HostKeyAlias: alias }),
    ConnectTimeout: String(connectTimeoutSeconds),
    ServerAliveInterval: String(aliveIntervalSeconds),
    ServerAliveCountMax: '3',
    ControlPath: 'none',
    ProxyCommand: 'none',
    PermitLocalCommand: 'no',
    ClearAllForwardings: 'yes',
    ForwardAgent: 'no',
    LogLevel: 'ERROR',
  }
  const words = Object.entries(options).flatMap(([name, value]) => ['-o', `${name}=${value}`])
  return ['env', ...passwdVariables(folder), 'ssh', '-F', '/dev/null', ...words].map(shellWord).join(' ')
}

/**
 * ssh refuses to run for a user without an entry in /etc/passwd, such as the controller's user in its image; nss_wrapper, a library that
 * replaces that file, provides one. Empty when the user has an entry.
 */
function passwdVariables(folder: string): string[] {
  if (hasPasswdEntry()) return []
  const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0]
  const passwd = path.join(folder, 'passwd')
  const group = path.join(folder, 'group')
  writeFileSync(passwd, `cluster-sync:x:${uid}:${gid}::${folder}:/bin/false\n`)
  writeFileSync(group, `cluster-sync:x:${gid}:\n`)
  return ['LD_PRELOAD=libnss_wrapper.so', `NSS_WRAPPER_PASSWD=${passwd}`, `NSS_WRAPPER_GROUP=${group}`]
}

function hasPasswdEntry(): boolean {
  try {
    os.userInfo()
    return true
  } catch {
    return false
  }
}
