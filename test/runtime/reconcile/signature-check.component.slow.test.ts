import { readdirSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import type { GatewaySyncSpec } from '../../../runtime/api/schema/spec.ts'
import { parseCommitHash } from '../../../runtime/api/values.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import type { SignatureVerdict } from '../../../runtime/reconcile/reconcile.ts'
import { createSignatureCheck } from '../../../runtime/reconcile/signature-check.ts'
import type { GatewaySyncRecord } from '../../../runtime/reconcile/store/records.ts'
import { createMirrors } from '../../../runtime/git/mirrors.ts'
import { requireRepository, anonymousAccess } from '../../../runtime/git/remote/remote.ts'
import type { Secret } from '../../../runtime/git/remote/secrets.ts'
import { containsText, matchObject } from '../../support/assertions.ts'
import { makeRepository, temporaryFolder } from '../../support/repository.ts'
import { requires } from '../../support/requires.ts'
import { makeSshKey, rawObject, type Sign, signCommit, signTag, store } from '../../support/signing.ts'

const record = { namespace: 'plant', name: 'one' } as GatewaySyncRecord

/** A local repository, a mirror of it, and a Secret that the test fills. */
function setUp(t: Parameters<typeof temporaryFolder>[0], objectFormat: 'sha1' | 'sha256' = 'sha1') {
  const folder = temporaryFolder(t, 'signature-check')
  const repository = makeRepository(path.join(folder, 'repository'), objectFormat)
  const tools = path.join(folder, 'tools')
  const mirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog, needed: () => undefined })
  t.teardown(async () => mirrors.close())
  const mirror = mirrors.of({ url: requireRepository(repository.folder, { allowLocal: true }), access: anonymousAccess })
  const secrets = new Map<string, Secret>()
  const results: string[] = []
  const signal = AbortSignal.timeout(120_000)
  const { verify: check } = createSignatureCheck({
    readSecret: async (_namespace, name) => secrets.get(name),
    rawObject: (_key, ...what) => mirror.rawObject(...what),
    folder: tools,
    clock: systemClock,
    checked: (result) => results.push(result),
  })
  return {
    folder,
    repository,
    tools,
    results,
    secret: (version: string, ...keys: string[]) =>
      secrets.set('keys', { version, data: new Map(keys.map((key, index) => [`${index}`, Buffer.from(key)])) }),
    async ask(ref: string, mode: 'Commit' | 'Tag' | 'TagAndCommit', fresh = true): Promise<SignatureVerdict> {
      const spec = { git: { repo: '', ref, verify: { mode, secretRef: { name: 'keys' } } } } as GatewaySyncSpec
      return await check(record, spec, await mirror.resolve(ref, { fresh }, signal), signal)
    },
    /** Creates a signed commit as the head of the branch and returns its ID. */
    commit(content: string, sign: Sign): string {
      const raw = rawObject(repository, 'commit', repository.commit({ 'a.txt': content }))
      const id = store(repository, 'commit', signCommit(raw, sign, objectFormat === 'sha1' ? 'gpgsig' : 'gpgsig-sha256'))
      repository.git('reset', '-q', '--hard', id)
      return id
    },
    /** Creates a signed annotated tag of the head and returns its ID. */
    tag(name: string, sign: Sign): string {
      repository.git('tag', '-f', '-a', '-m', name, name)
      const id = store(repository, 'tag', signTag(rawObject(repository, 'tag', name), sign))
      repository.git('update-ref', `refs/tags/${name}`, id)
      return id
    },
  }
}

function whyOf(verdict: SignatureVerdict): string {
  return verdict.kind === 'refused' ? verdict.why : verdict.kind
}

void t.test('the commit of a branch and the tag of a tag ref are verified according to the mode', async (t) => {
  if (!requires(t, 'git', 'ssh-keygen')) return
  const world = setUp(t)
  const key = makeSshKey(world.folder, 'ann')
  const signer = { key: key.fingerprint, by: 'ann@example.com' }
  world.secret('1', key.publicKey)
  const commit = world.commit('one', key.sign())
  t.strictSame(await world.ask('main', 'Commit'), { kind: 'verified', commit: signer })
  t.strictSame(await world.ask(commit, 'Commit'), { kind: 'verified', commit: signer }, 'a full hash')
  for (const ref of ['main', commit])
    t.match(whyOf(await world.ask(ref, 'Tag')), /is not an annotated tag, and only annotated tags can be signed$/, `${ref} is no tag`)
  world.tag('v1', key.sign())
  for (const [name, fresh] of [
    ['v1', true],
    ['v1', false],
    ['refs/tags/v1', true],
  ] as const)
    t.strictSame(
      await world.ask(name, 'TagAndCommit', fresh),
      { kind: 'verified', commit: signer, tag: signer },
      `${name}, ${fresh ? 'pushed' : 'polled'}`,
    )
  world.repository.git('tag', 'light')
  t.match(whyOf(await world.ask('light', 'Tag')), /"refs\/tags\/light" is not an annotated tag/)
  world.repository.git('tag', '-a', '-m', 'unsigned', 'plain')
  t.match(whyOf(await world.ask('plain', 'TagAndCommit')), /^tag [0-9a-f]{40} is not signed$/)
  t.strictSame(readdirSync(world.tools), [], 'nothing is left on the disk')
})

void t.test('a tag that is signed again for the same commit is found even if the mirror has the commit', async (t) => {
  if (!requires(t, 'git', 'ssh-keygen')) return
  const world = setUp(t)
  const [ann, ben] = [makeSshKey(world.folder, 'ann'), makeSshKey(world.folder, 'ben')]
  world.secret('1', ben.publicKey)
  world.commit('one', ann.sign())
  matchObject(t, await world.ask('main', 'Commit'), { kind: 'refused' }, 'the commit is in the mirror through the branch')
  world.tag('v1', ann.sign())
  containsText(t, whyOf(await world.ask('v1', 'Tag', false)), `${ann.fingerprint}, which is not in the Secret`)
  world.tag('v1', ben.sign())
  matchObject(t, await world.ask('v1', 'Tag', false), { kind: 'verified', tag: { key: ben.fingerprint } })
})

void t.test('a result is bound to the commit and Secret version, and only a successful one is cached', async (t) => {
  if (!requires(t, 'git', 'ssh-keygen')) return
  const world = setUp(t)
  const [ann, ben] = [makeSshKey(world.folder, 'ann'), makeSshKey(world.folder, 'ben')]
  world.commit('one', ann.sign())
  t.equal(whyOf(await world.ask('main', 'Commit')), 'spec.git.verify: Secret "keys" does not exist')
  world.secret('1', 'no key at all')
  t.match(whyOf(await world.ask('main', 'Commit')), /^spec\.git\.verify: Secret "keys": key 0 is neither an SSH public key nor/)
  world.secret('2', ben.publicKey)
  t.match(whyOf(await world.ask('main', 'Commit')), /which is not in the Secret$/)
  world.secret('3', ann.publicKey)
  matchObject(t, await world.ask('main', 'Commit'), { kind: 'verified' })
  matchObject(t, await world.ask('main', 'Commit'), { kind: 'verified' })
  t.strictSame(world.results, ['refused', 'refused', 'refused', 'verified'], 'the second time nothing was checked')
  world.secret('4', ben.publicKey)
  matchObject(t, await world.ask('main', 'Commit'), { kind: 'refused' }, 'a key that is withdrawn counts at once')
  world.secret('3', ann.publicKey)
  world.commit('two', ben.sign())
  matchObject(t, await world.ask('main', 'Commit'), { kind: 'refused' }, 'another commit')
})

void t.test('without verify in the spec no Secret is read', async (t) => {
  const { verify: check } = createSignatureCheck({
    readSecret: async () => {
      throw new Fault('Forbidden', 'no rights to read Secrets')
    },
    rawObject: async () => Buffer.alloc(0),
    folder: '/nonexistent',
    clock: systemClock,
  })
  const resolved = {
    commit: parseCommitHash('a'.repeat(40)),
    committedAt: Promise.resolve(undefined),
    fetchedAt: '',
    name: 'refs/heads/main',
    tag: undefined,
  }
  const spec = { git: { repo: '', ref: 'main' } } as GatewaySyncSpec
  t.strictSame(await check(record, spec, resolved, AbortSignal.timeout(1000)), { kind: 'notRequired' })
})
