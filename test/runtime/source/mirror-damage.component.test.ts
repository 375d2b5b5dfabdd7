/**
 * What becomes of a mirror whose files a crash, a full disk or a person has damaged: losing it costs one fetch, and nothing else.
 */
import { readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { systemClock } from '../../../runtime/clock.ts'
import { parseCommitHash } from '../../../runtime/gatewaysync/values.ts'
import { silentLog } from '../../../runtime/log.ts'
import { createMirrors } from '../../../runtime/source/mirrors.ts'
import { anonymousRemote } from '../../../runtime/source/remote.ts'
import { startGitHost } from '../../support/git-host.ts'
import { makeRepository, temporaryFolder } from '../../support/repository.ts'
import { requires } from '../../support/requires.ts'

const signal = AbortSignal.timeout(300_000)

const damages: Record<string, (mirror: string) => void> = {
  'an empty HEAD': (mirror) => truncateSync(path.join(mirror, 'HEAD')),
  'a HEAD of something else': (mirror) => writeFileSync(path.join(mirror, 'HEAD'), 'garbage\n'),
  'no HEAD': (mirror) => rmSync(path.join(mirror, 'HEAD')),
  'a damaged config': (mirror) => writeFileSync(path.join(mirror, 'config'), '[core\n\0'),
  'no objects': (mirror) => rmSync(path.join(mirror, 'objects'), { recursive: true }),
  'an empty pack': (mirror) => {
    const packs = path.join(mirror, 'objects', 'pack')
    for (const name of readdirSync(packs)) {
      rmSync(path.join(packs, name))
      writeFileSync(path.join(packs, name), '')
    }
  },
  'no folder': (mirror) => rmSync(mirror, { recursive: true }),
}

for (const [name, damage] of Object.entries(damages)) {
  for (const when of ['while the process runs', 'before it starts'] as const) {
    void t.test(`a mirror with ${name} is made anew, ${when}`, async (t) => {
      if (!requires(t, 'git', 'prlimit')) return
      const folder = temporaryFolder(t, 'damage')
      const host = await startGitHost(path.join(folder, 'git'))
      t.teardown(async () => host.stop())
      const repository = host.repository('plant.git')
      // A state folder may lie in somebody's work tree.
      const around = makeRepository(path.join(folder, 'around'))
      around.commit({ own: '1' })
      const state = path.join(folder, 'around', 'mirrors')
      const open = () => {
        const mirrors = createMirrors({ folder: state, clock: systemClock, log: silentLog })
        t.teardown(async () => mirrors.close())
        return mirrors.of(anonymousRemote(host.url('plant.git/.git'), { allowLocal: false }))
      }
      const first = repository.commit({ a: '1' })
      let mirror = open()
      await mirror.resolve('main', { fresh: true }, signal)
      const [key = ''] = readdirSync(state)
      damage(path.join(state, key))
      if (when === 'before it starts') mirror = open()
      const second = repository.commit({ a: '2' })
      // What was damaged under a running process may be noticed by one failure.
      const resolve = async () => (await mirror.resolve('main', { fresh: true }, signal)).commit
      t.equal(await (when === 'before it starts' ? resolve() : resolve().catch(resolve)), second)
      await mirror.ensure(parseCommitHash(second), signal)
      await mirror.ensure(parseCommitHash(first), signal).catch(() => mirror.ensure(parseCommitHash(first), signal))
      t.equal(around.git('for-each-ref', 'refs/w/').toString(), '', 'the repository around it is left alone')
    })
  }
}
