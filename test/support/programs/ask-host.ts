/**
 * Queries a git host once and prints the commit of main or the fault, for tests that run it as another user. Reads its input from stdin.
 */
import { text } from 'node:stream/consumers'
import path from 'node:path'
import * as v from 'valibot'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { asFault } from '../../../runtime/platform/fault.ts'
import { gitSpec } from '../../../runtime/api/schema/git-spec.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { openNetwork } from '../../../runtime/git/remote/network.ts'
import { createMirrors } from '../../../runtime/git/mirrors.ts'
import { createRemotes } from '../../../runtime/git/remotes.ts'

export type AskHostQuestion = { git: Record<string, unknown>; secrets: Record<string, Record<string, string>>; folder: string }

const { git, secrets, folder } = JSON.parse(await text(process.stdin)) as AskHostQuestion
const signal = AbortSignal.timeout(60_000)
const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
const remoteOf = createRemotes({
  allowLocal: false,
  allowedHosts: [],
  network: openNetwork,
  clock: systemClock,
  signal,
  async readSecret(_namespace, name) {
    const data = Object.entries(secrets[name] ?? {}).map(([key, text]) => [key, Buffer.from(text)] as const)
    return data.length === 0 ? undefined : { version: '1', data: new Map(data) }
  },
})
try {
  const mirror = mirrors.of(await remoteOf('plant', v.parse(gitSpec({ allowLocal: false }), git), signal))
  const { commit } = await mirror.resolve('main', { fresh: true }, signal)
  process.stdout.write(commit)
} catch (error) {
  const { reason, message } = asFault(error)
  process.stdout.write(`${reason}: ${message}`)
}
await mirrors.close()
process.exit(0)
