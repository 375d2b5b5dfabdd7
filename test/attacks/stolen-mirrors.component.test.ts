/**
 * Tenant isolation: a tenant that spells another tenant's repository differently gets a mirror of its own, and no part of the other's.
 */
import path from 'node:path'
import t from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { Fault } from '../../runtime/platform/fault.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { createMirrors } from '../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../runtime/git/remote/remote.ts'
import { startGitHost } from '../support/git-host.ts'
import { temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'

const options = { allowLocal: false }

void t.test('another spelling of a repository is refused or gets its own mirror', async (t) => {
  if (!requires(t, 'git')) return
  const folder = temporaryFolder(t, 'spellings')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  const victim = host.repository('victim/plant.git')
  const attacker = host.repository('attacker/plant.git')
  const [right, wrong] = [victim.commit({ 'a.txt': 'of the victim' }), attacker.commit({ 'a.txt': 'of the attacker' })]
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog, needed: () => new Set() })
  t.teardown(async () => mirrors.close())
  const signal = AbortSignal.timeout(60_000)
  const commitAt = async (url: string): Promise<string> => {
    try {
      return (await mirrors.of(anonymousRemote(url, options)).resolve('main', { fresh: true }, signal)).commit
    } catch (error) {
      return error instanceof Fault ? error.reason : String(error)
    }
  }
  const plant = host.url('victim/plant.git/.git')
  // A host or proxy that routes by the raw path takes these for the attacker's repository.
  for (const spelling of [
    plant.replace('/victim/', '/attacker/%2e%2e/victim/'),
    plant.replace('/victim/', '/attacker/../victim/'),
    plant.replace('/victim/', '/victim\\'),
    plant.replace('/victim/', '/victim%2f'),
    plant.replace('/victim/', '/attacker/.%2E/victim/'),
    `${plant}?of=attacker`,
    `${plant}#attacker`,
  ]) {
    t.equal(await commitAt(spelling), 'RepositoryNotAllowed', spelling)
  }
  for (const spelling of [`${plant}/`, plant.replace('/victim/', '//victim/')]) await commitAt(spelling)
  t.equal(await commitAt(host.url('attacker/plant.git/.git')), wrong)
  t.equal(await commitAt(plant), right, 'whatever was asked for before')
  const own = mirrors.of(anonymousRemote(plant, options))
  t.equal(mirrors.of(anonymousRemote(plant, options)), own)
  for (const spelling of [`${plant}/`, plant.replace('/victim/', '//victim/'), plant.replace('plant', 'Plant')]) {
    t.not(mirrors.of(anonymousRemote(spelling, options)), own, spelling)
  }
})
