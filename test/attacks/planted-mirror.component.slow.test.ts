/**
 * Files planted in the mirror folder do not make git run a program: git uses only the configuration, refs and folder of the controller.
 */
import * as fs from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { systemClock } from '../../runtime/platform/clock.ts'
import { Fault } from '../../runtime/platform/fault.ts'
import { parseCommitHash, parseRelativePath } from '../../runtime/api/values.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { createMirrors, type Mirror } from '../../runtime/git/mirrors.ts'
import { anonymousRemote } from '../../runtime/git/remote/remote.ts'
import { throwsError } from '../support/assertions.ts'
import { makeRepository, type Repository, temporaryFolder } from '../support/repository.ts'
import { requires } from '../support/requires.ts'

const signal = AbortSignal.timeout(290_000)

type World = { repository: Repository; state: string; canary: string; open(): Mirror }

async function setUp(t: Test): Promise<World> {
  const folder = temporaryFolder(t, 'planted')
  const repository = makeRepository(path.join(folder, 'plant'))
  repository.commit({ a: '1' })
  const state = path.join(folder, 'mirrors')
  const open = (): Mirror => {
    const mirrors = createMirrors({ folder: state, clock: systemClock, log: silentLog })
    t.teardown(async () => mirrors.close())
    return mirrors.of(anonymousRemote(repository.folder, { allowLocal: true }))
  }
  await open().resolve('main', { fresh: true }, signal)
  return { repository, state, canary: path.join(folder, 'canary'), open }
}

/** Runs every operation of a mirror. */
async function use(mirror: Mirror, commit: string): Promise<void> {
  await mirror.resolve('main', { fresh: true }, signal)
  await mirror.resolve('main', { fresh: false }, signal)
  await mirror.ensure(parseCommitHash(commit), signal)
  await Array.fromAsync(mirror.listing(parseCommitHash(commit), [parseRelativePath('')]).list(signal))
}

/** Settings that run a program, and other content of a mirror that redirects git. */
const plants: Record<string, (mirror: string, program: string) => void> = {
  'settings that run programs': (mirror, program) => {
    const settings = ['core.alternateRefsCommand', 'core.fsmonitor', 'core.sshCommand', 'core.gitProxy', 'uploadpack.packObjectsHook']
    for (const setting of settings) {
      const [section = '', name = ''] = setting.split('.')
      fs.appendFileSync(path.join(mirror, 'config'), `[${section}]\n\t${name} = ${program}\n`)
    }
    fs.appendFileSync(path.join(mirror, 'config'), `[remote "x"]\n\tuploadpack = ${program}\n[url "ext::${program}"]\n\tinsteadOf = /\n`)
  },
  'an included configuration': (mirror, program) => {
    fs.writeFileSync(path.join(mirror, 'more'), `[core]\n\talternateRefsCommand = ${program}\n`)
    fs.appendFileSync(path.join(mirror, 'config'), `[include]\n\tpath = more\n`)
  },
  'another common folder': (mirror, program) => {
    fs.cpSync(mirror, `${mirror}-planted`, { recursive: true })
    fs.appendFileSync(path.join(`${mirror}-planted`, 'config'), `[core]\n\talternateRefsCommand = ${program}\n`)
    fs.writeFileSync(path.join(mirror, 'commondir'), `${mirror}-planted\n`)
  },
  'alternates, which the command of the configuration is run for': (mirror, program) => {
    fs.mkdirSync(path.join(mirror, 'objects/info'), { recursive: true })
    fs.writeFileSync(path.join(mirror, 'objects/info/alternates'), `${path.join(mirror, 'objects')}\n`)
    fs.appendFileSync(path.join(mirror, 'config'), `[core]\n\talternateRefsCommand = ${program}\n`)
  },
  hooks: (mirror, program) => {
    fs.mkdirSync(path.join(mirror, 'hooks'))
    for (const name of ['reference-transaction', 'post-checkout', 'pre-auto-gc']) fs.copyFileSync(program, path.join(mirror, 'hooks', name))
  },
}

for (const [name, plant] of Object.entries(plants)) {
  void t.test(`${name}, planted in a mirror, run nothing`, async (t) => {
    if (!requires(t, 'git')) return
    const { repository, state, canary, open } = await setUp(t)
    const program = `${canary}.sh`
    fs.writeFileSync(program, `#!/bin/sh\necho ran >> ${canary}\n`, { mode: 0o755 })
    const [key = ''] = fs.readdirSync(state)
    plant(path.join(state, key), program)
    await use(open(), repository.commit({ a: '2' }))
    t.notOk(fs.existsSync(canary))
    const left = fs.readdirSync(path.join(state, key)).toSorted()
    t.strictSame(
      left.filter((file) => !['HEAD', 'config', 'objects', 'refs', 'shallow', 'packed-refs'].includes(file)),
      [],
    )
  })
}

void t.test('a mirror replaced by a symbolic link is recreated as a folder', async (t) => {
  if (!requires(t, 'git')) return
  const { repository, state, open } = await setUp(t)
  const [key = ''] = fs.readdirSync(state)
  const elsewhere = `${state}-elsewhere`
  fs.renameSync(path.join(state, key), elsewhere)
  fs.symlinkSync(elsewhere, path.join(state, key))
  const before = fs.readdirSync(elsewhere, { recursive: true, encoding: 'utf8' }).toSorted()
  await use(open(), repository.commit({ a: '2' }))
  t.ok(fs.lstatSync(path.join(state, key)).isDirectory())
  t.strictSame(fs.readdirSync(elsewhere, { recursive: true, encoding: 'utf8' }).toSorted(), before, 'what it led to is left alone')
})

void t.test('a mirror folder that other users may write to is refused', async (t) => {
  if (!requires(t, 'git')) return
  const { state, open } = await setUp(t)
  fs.chmodSync(state, 0o777)
  throwsError(
    t,
    open,
    new Fault(
      'InvalidConfiguration',
      `${state}: the folder of the mirrors must belong to the user of this process, and no other user may write to it; remove it or choose another`,
    ),
  )
})

void t.test(
  'a mirror that belongs to another user is deleted',
  { skip: process.getuid?.() === 0 ? false : 'only root gives files away' },
  async (t) => {
    if (!requires(t, 'git')) return
    const { repository, state, open } = await setUp(t)
    const [key = ''] = fs.readdirSync(state)
    fs.chownSync(path.join(state, key), 2003, 2003)
    fs.writeFileSync(path.join(state, key, 'planted'), '')
    await use(open(), repository.commit({ a: '2' }))
    t.equal(fs.statSync(path.join(state, key)).uid, 0)
    t.notOk(fs.existsSync(path.join(state, key, 'planted')))
  },
)
