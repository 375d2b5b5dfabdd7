/**
 * A real git host with one repository, and a mirror of it.
 */
import path from 'node:path'
import type { Test } from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { Fault } from '../../runtime/platform/fault.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { createMirrors, type Mirror, type Mirrors } from '../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../runtime/git/remote/remote.ts'
import { type GitHost, type HostMode, startGitHost } from './git-host.ts'
import { type Repository, temporaryFolder } from './repository.ts'

export const signal = AbortSignal.timeout(860_000)

type SetUp = {
  host: GitHost
  repository: Repository
  mirrors: Mirrors
  mirror: Mirror
  folder: string
}

export async function setUp(t: Test, mode: HostMode = 'v2'): Promise<SetUp> {
  const folder = temporaryFolder(t, 'mirrors')
  const host = await startGitHost(path.join(folder, 'git'), { mode })
  t.teardown(async () => host.stop())
  const repository = host.repository('plant.git')
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog, needed: () => new Set() })
  t.teardown(async () => mirrors.close())
  const mirror = mirrors.of(anonymousRemote(host.url('plant.git/.git'), { allowLocal: false }))
  return { host, repository, mirrors, mirror, folder }
}

export const resolve = async (mirror: Mirror, ref: string, fresh = false): Promise<string> =>
  (await mirror.resolve(ref, { fresh }, signal)).commit

export async function reasonOf(work: Promise<unknown>): Promise<string> {
  const error: unknown = await work.catch((thrown: unknown) => thrown)
  return error instanceof Fault ? error.reason : `nothing but ${String(error)}`
}
