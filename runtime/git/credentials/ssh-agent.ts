/**
 * Runs an ssh-agent for one git call: the private key is only in its memory.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { deadline } from '../../platform/clock.ts'
import { Fault } from '../../platform/fault.ts'
import { systemPath } from '../command/settings.ts'

/** `socket` is its path; `stop` settles when the process has ended. */
export type Agent = { socket: string; stop(): Promise<void> }

const timeoutMs = 10_000
/** A shell that ends the agent when its standard input closes, which also happens when this process is killed. */
const keeper = 'ssh-agent -D -t "$1" -a "$2" & agent=$!; cat >/dev/null; kill $agent; wait $agent'

/** Starts an agent that removes its keys automatically after a while. Throws ToolMissing when it does not start within 10 s. */
export async function startAgent(socket: string, keyLifetimeSeconds: number, signal: AbortSignal): Promise<Agent> {
  const child = spawn('sh', ['-c', keeper, 'sh', String(keyLifetimeSeconds), socket], {
    stdio: ['pipe', 'pipe', 'ignore'],
    env: { PATH: systemPath },
  })
  child.stdin.on('error', () => undefined)
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  child.once('error', () => undefined)
  const stop = async (): Promise<void> => {
    child.stdin.end()
    await ended
  }
  try {
    // The agent prints the path of its socket once it listens.
    const started = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)])
    const listening = once(child.stdout, 'data', { signal: started }).then(() => true)
    if (await Promise.race([listening, ended.then(() => false)])) return { socket, stop }
    throw new Fault('ToolMissing', 'ssh-agent does not start; install openssh-client')
  } catch (error) {
    await stop()
    signal.throwIfAborted()
    if (error instanceof Fault) throw error
    throw new Fault('ToolMissing', 'ssh-agent does not start; install openssh-client', { cause: error })
  }
}

type Key = { privateKey: string; passphrase: string | undefined; askProgram: string }

/** Exit status of ssh-add (its manual page) when it does not reach the agent. */
const agentGone = 2
/** Exit statuses of sh for a program that cannot be run, or is not there. */
const notRun: readonly unknown[] = [126, 127]
/** A key with a passphrase may name how long its decryption takes, in any of the formats. A hundred rounds of bcrypt take a second. */
const maxCpuSeconds = 2
/** The limit is a soft one, so that its signal differs from those of other causes; no memory with the key is written to disk. */
const limitedAdd = 'ulimit -S -c 0; ulimit -S -t "$1"; exec ssh-add -q -'

/**
 * Sends a key to the agent through a pipe. Throws CredentialsInvalid for an unreadable or slow key or a wrong passphrase; without a result about
 * the key, ToolMissing when ssh-add cannot be run, GitKilled when it or the agent was ended, and Timeout after 10 s.
 */
export async function addKey({ socket }: Agent, { privateKey, passphrase, askProgram }: Key, signal: AbortSignal): Promise<void> {
  const stop = deadline(timeoutMs, signal)
  const child = spawn('sh', ['-c', limitedAdd, 'sh', String(maxCpuSeconds)], {
    stdio: ['pipe', 'ignore', 'pipe'],
    env: {
      PATH: systemPath,
      SSH_AUTH_SOCK: socket,
      SSH_ASKPASS: passphrase === undefined ? '/bin/false' : askProgram,
      SSH_ASKPASS_REQUIRE: 'force',
      ...(passphrase === undefined ? {} : { CLUSTER_SYNC_PASSPHRASE: passphrase }),
    },
    signal: stop,
  })
  child.stderr.resume()
  child.stdin.on('error', () => undefined)
  // ssh-add cannot read a key with Windows line ends.
  child.stdin.end(`${privateKey.replaceAll('\r\n', '\n')}\n`)
  const end = await new Promise<number | NodeJS.Signals | null | Error>((resolve) => {
    child.once('error', resolve)
    child.once('close', (code, by) => resolve(code ?? by))
  })
  signal.throwIfAborted()
  if (end === 0) return
  if (stop.aborted) throw new Fault('Timeout', `ssh-add did not end within ${timeoutMs / 1000} s`)
  if (notRun.includes(end)) throw new Fault('ToolMissing', 'ssh-add is not installed or cannot be run')
  if (end instanceof Error) {
    throw new Fault('GitKilled', `ssh-add could not be started: ${end.message}`, { cause: end })
  }
  if (end === agentGone) throw new Fault('GitKilled', 'ssh-agent was killed before it received the key of spec.git.auth.sshKey')
  if (end === 'SIGXCPU') {
    const help = `takes more than ${maxCpuSeconds} s to decrypt; reduce its rounds with ssh-keygen -p -a 16`
    throw new Fault('CredentialsInvalid', `spec.git.auth.sshKey: the private key ${help}`)
  }
  if (typeof end !== 'number') throw new Fault('GitKilled', `ssh-add was ended by ${end ?? 'a signal'}`)
  const passphraseHint =
    passphrase === undefined ? 'or it has a passphrase (spec.git.auth.sshKey.passphrase)' : 'or the passphrase is wrong'
  throw new Fault('CredentialsInvalid', `spec.git.auth.sshKey: ssh cannot read this private key, ${passphraseHint}`)
}
