/**
 * Uploads of local changes from a compromised gateway: only files that its own profile delivers become a commit, and the controller refuses
 * a large, nested or malformed upload at little cost.
 */
import { linkSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { acceptChanges } from '../../runtime/capture/submit/accept.ts'
import { digestOf, savedBy, withTrailers } from '../../runtime/capture/submit/commit.ts'
import { createCaptureUpload } from '../../runtime/capture/submit/upload.ts'
import { systemClock } from '../../runtime/platform/clock.ts'
import {
  captureBounds,
  type CaptureAnswer,
  type CapturedChange,
  type CaptureOffer,
  type FramedSource,
} from '../../runtime/content/protocol/protocol.ts'
import { Fault } from '../../runtime/platform/fault.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { runCycle } from '../../runtime/sync/cycle.ts'
import { lacksText, matchObject } from '../support/assertions.ts'
import { serveDelivery } from '../support/delivery-server.ts'
import { memorySource, profileOf, desiredOf } from '../support/memory-source.ts'
import { temporaryFolder } from '../support/repository.ts'

const profile = profileOf([{ source: 'gw/projects', destination: 'projects' }], {
  collections: { root: 'gw/resources', mode: 'auto' },
  excludePatterns: ['**/*.log'],
})

const base64 = (text: string): string => Buffer.from(text).toString('base64')
const change = (source: string, more: Partial<CapturedChange> = {}): CapturedChange => ({
  source,
  path: source.replace(/^gw\//, ''),
  op: 'changed',
  exec: false,
  content: base64('x'),
  ...more,
})

/** The digest that matches the changes. */
function digestFor(changes: readonly CapturedChange[]): string {
  return digestOf(
    changes.map(({ source, exec, content }) => ({
      source,
      exec,
      content: content === undefined ? undefined : Buffer.from(content, 'base64'),
    })),
  )
}

function offerOf(changes: CapturedChange[] | undefined, more: Partial<CaptureOffer> = {}): CaptureOffer {
  const files = changes?.length ?? 1
  const digest = digestFor(changes ?? [])
  return {
    commit: 'a'.repeat(40) as CaptureOffer['commit'],
    profile: 'default',
    mode: '',
    request: 'now',
    digest,
    files,
    skipped: [],
    skippedFiles: 0,
    changes,
    ...more,
  }
}

/** The result: the reason of the Fault, or `accepted`. */
function reasonOf(work: () => unknown): string {
  try {
    work()
    return 'accepted'
  } catch (error) {
    return error instanceof Fault ? error.reason : String(error)
  }
}

/** Every path where the profile may deliver the accepted changes. */
function accepted(changes: readonly CapturedChange[], by = profile): readonly string[] {
  return acceptChanges(changes, digestFor(changes), by).flatMap(({ paths }) => paths)
}

function outcomeOf(changes: readonly CapturedChange[], by = profile): string {
  return reasonOf(() => accepted(changes, by))
}

void t.test('a deep path that many mappings may deliver is refused before its places fill the memory', async (t) => {
  const deep = (folders: number): string => `gw/${'a/'.repeat(folders)}a.txt`
  const templated = { type: 'Directory', source: 'gw/{{ vars.site }}', destination: 'projects', prune: 'Owned', required: true } as const
  const many = { ...profile, mappings: Array.from({ length: 64 }, () => ({ ...templated, template: false })) } as typeof profile
  const to = (source: string) => change(source, { path: 'projects/a.txt' })
  t.equal(outcomeOf([to(deep(101))], many), 'RepositoryTooLarge')
  t.equal(outcomeOf([to(deep(90))], many), 'accepted')
  const all = Array.from({ length: 60 }, (_, index) => to(`gw/${String(index).padEnd(20, 'x')}/${'folder-name/'.repeat(60)}a.txt`))
  t.equal(outcomeOf(all, many), 'PayloadTooLarge')
})

void t.test('the author is not read from a manifest of too many values', async (t) => {
  const named = (lists: number): string => {
    const attributes = { lastModification: { actor: 'ann', timestamp: '2026' } }
    const content = Buffer.from(JSON.stringify({ attributes, lists: Array.from({ length: lists }, () => []) }))
    return savedBy([{ source: 'gw/resource.json', exec: false, content }], 'press').name
  }
  t.equal(named(10), 'ann')
  t.equal(named(300_000), 'press')
})

void t.test('a change outside the files of the profile is refused', async (t) => {
  t.equal(acceptChanges([change('gw/projects/line/a.txt')], digestFor([change('gw/projects/line/a.txt')]), profile).length, 1)
  const hostile: readonly CapturedChange[] = [
    change('README.md'),
    change('gw/other/x'),
    change('gw/projects'),
    change('gw/projects/../other/x'),
    change('../gw/projects/x'),
    change('/gw/projects/x'),
    change('gw/projects//x'),
    change('gw/projects/line/.git/hooks/post-commit'),
    change('gw/projects/line/.GIT/config'),
    change('gw/projects/line/debug.log'),
    change('gw/projects/x', { path: 'config/local/x' }),
    change('gw/projects/x', { path: 'config/resources/core/ignition/api-token/x/config.json' }),
    change('gw/projects/x', { path: '.cluster-sync/manifest' }),
    change('gw/projects/x', { op: 'removed' }),
    change('gw/projects/x', { content: undefined }),
  ]
  for (const each of hostile)
    t.equal(
      reasonOf(() => acceptChanges([each], digestFor([each]), profile)),
      'PayloadMalformed',
      JSON.stringify(each),
    )
  const one = change('gw/projects/x')
  t.equal(
    reasonOf(() => acceptChanges([one, one], digestFor([one, one]), profile)),
    'PayloadMalformed',
    'twice',
  )
  t.equal(
    reasonOf(() => acceptChanges([one], '0'.repeat(64), profile)),
    'PayloadMalformed',
    'another digest than was told',
  )
})

void t.test('a file is checked at the path where the profile delivers it, not at the path that the gateway claims', async (t) => {
  const token = 'gw/resources/core/ignition/api-token/x/config.json'
  for (const path of ['projects/line/x.json', 'config/resources/core/ignition/x/config.json'])
    t.equal(outcomeOf([change(token, { path })]), 'PayloadMalformed', path)
  t.equal(outcomeOf([change('gw/projects/line/x.json', { path: 'projects/other/x.json' })]), 'PayloadMalformed')
  t.strictSame(accepted([change('gw/resources/CORE/ignition/tag/x.json', { path: 'config/resources/core/ignition/tag/x.json' })]), [
    'config/resources/core/ignition/tag/x.json',
  ])
})

void t.test('a template in a mapping does not bypass the rules', async (t) => {
  const templated = profileOf([
    { source: 'sites/{{ gateway.name }}/config', destination: 'config/resources/core' },
    { source: 'shared', destination: 'projects/{{ gateway.name }}' },
    { source: 'extra', destination: 'config/{{ vars.place }}' },
  ])
  const token = 'sites/a/config/ignition/api-token/x/config.json'
  const tails = ['ignition/api-token/x/config.json', 'x/config.json', 'config.json'].map((tail) => `config/resources/core/${tail}`)
  for (const path of tails) t.equal(outcomeOf([change(token, { path })], templated), 'PayloadMalformed', path)
  const tag = 'sites/a/config/ignition/tag-provider/x/config.json'
  const place = 'config/resources/core/ignition/tag-provider/x/config.json'
  t.equal(accepted([change(tag, { path: place })], templated).includes(place), true)
  t.equal(outcomeOf([change('shared/a/view.json', { path: 'projects/press/a/view.json' })], templated), 'accepted')
  t.equal(outcomeOf([change('shared/a/view.json', { path: 'projects/press/b/view.json' })], templated), 'PayloadMalformed')
  t.equal(outcomeOf([change('extra/x/y.json', { path: 'config/any/x/y.json' })], templated), 'PayloadMalformed')
})

void t.test('a file that controls git, a CI system or a git host never becomes a commit', async (t) => {
  const whole = profileOf([{ source: '.', destination: 'projects/line' }])
  const hostile = [
    '.github/workflows/run.yml',
    '.gitlab-ci.yml',
    'views/.gitattributes',
    '.gitmodules',
    'Jenkinsfile',
    'views/Jenkinsfile.release',
    'azure-pipelines.yml',
    'docs/CODEOWNERS',
    'views/GIT~1/hooks/x',
    'run.sh',
  ]
  for (const source of hostile) t.equal(outcomeOf([change(source, { path: `projects/line/${source}` })], whole), 'PayloadMalformed', source)
  for (const source of ['project.json', 'views/main/view.json'])
    t.equal(outcomeOf([change(source, { path: `projects/line/${source}` })], whole), 'accepted', source)
})

void t.test('a mode with several lines does not forge a trailer', async (t) => {
  const text = withTrailers('x', { gateway: 'press', mode: 'dev\nCaptured-For: a/b/c', commit: 'a'.repeat(40) })
  t.notMatch(text, /^Captured-For/m)
})

void t.test('the upload endpoint refuses unauthenticated, oversized and malformed uploads', async (t) => {
  const taken: { pod: string; offer: CaptureOffer }[] = []
  let answer: CaptureAnswer | undefined = { answer: 'later' }
  const commits = new Set<string>(['a'.repeat(40)])
  const unread: FramedSource = {
    ...memorySource(),
    frames: async function* () {},
    fileFrames: async function* () {},
    holds: async () => true,
  }
  const lookup = (_namespace: string, name: string) =>
    name !== 'plant'
      ? undefined
      : {
          commits,
          source: unread,
          hasProfile: (named: string) => named === 'default',
          revision: '1',
          access: async () => ({}),
          capture(pod: string, offer: CaptureOffer) {
            taken.push({ pod, offer })
            return answer
          },
        }
  const { client } = await serveDelivery(t, unread as never, { more: { lookup, lateMs: 0 } })
  const signal = AbortSignal.timeout(120_000)
  const outcome = async (offer: object, token = 'gw-0', name = 'plant'): Promise<string> =>
    await client(token, name)
      .capture(offer as CaptureOffer, signal)
      .then(
        ({ answer: said }) => said,
        (error: unknown) => (error instanceof Fault ? error.reason : String(error)),
      )

  t.equal(await outcome(offerOf([change('gw/projects/x')])), 'later')
  matchObject(t, taken, [{ pod: 'gw-0', offer: { digest: digestFor([change('gw/projects/x')]) } }], 'the pod is that of the token')
  taken.length = 0
  t.equal(await outcome(offerOf(undefined), 'bad'), 'DeliveryUnauthorized')
  t.equal(await outcome(offerOf(undefined), 'gw-0', 'other'), 'NotFound')
  for (const source of ['../x', '/x', 'a//b', 'a/../b', 'a\0b', ''])
    t.equal(await outcome(offerOf([change(source, { path: 'x' })])), 'PayloadMalformed', source)
  t.equal(await outcome(offerOf([change('gw/projects/x', { content: 'no base64!' })])), 'PayloadMalformed')
  t.equal(await outcome(offerOf([change('x', { content: base64('x'.repeat(captureBounds.fileBytes + 3)) })])), 'PayloadMalformed')
  t.equal(
    await outcome(offerOf(Array.from({ length: captureBounds.files + 1 }, (_, index) => change(`gw/projects/${index}`)))),
    'PayloadMalformed',
  )
  t.equal(await outcome({ ...offerOf(undefined), skipped: [[[[[[]]]]]] }), 'PayloadMalformed')
  t.equal(await outcome({ ...offerOf(undefined), more: 'x'.repeat(8 * 1024 * 1024) }), 'PayloadTooLarge')
  t.strictSame(taken, [], 'none of it was looked at')
  answer = undefined
  t.equal(await outcome(offerOf(undefined)), 'DeliveryUnreachable', 'a replica that does not lead takes nothing')
})

void t.test('the agent does not read symbolic links, large files or paths outside the delivered ones', async (t) => {
  const folder = temporaryFolder(t, 'captured')
  const dataDir = path.join(folder, 'data')
  mkdirSync(dataDir)
  const source = memorySource()
  const own = profileOf([{ source: 'gw/projects', destination: 'projects' }])
  const commit = source.commit({ 'gw/projects/line/a.txt': 'a', 'gw/projects/line/b.txt': 'b', 'gw/projects/line/c.txt': 'c' })
  const target = desiredOf(dataDir, commit, own)
  const signal = AbortSignal.timeout(120_000)
  const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory: { manifest: undefined } }
  t.equal((await runCycle(deps, target, signal)).phase, 'Synced')
  writeFileSync(path.join(folder, 'secret'), 'outside')
  const line = path.join(dataDir, 'projects/line')
  symlinkSync(path.join(folder, 'secret'), path.join(line, 'link.txt'))
  symlinkSync(folder, path.join(line, 'folder'))
  writeFileSync(path.join(line, 'large.bin'), 'x'.repeat(captureBounds.fileBytes + 1))
  writeFileSync(path.join(line, 'a.txt'), 'changed')
  mkdirSync(path.join(dataDir, 'config/local'), { recursive: true })
  linkSync(path.join(folder, 'secret'), path.join(dataDir, 'config/local/key'))
  const sent: CaptureOffer[] = []
  const answers: CaptureAnswer['answer'][] = ['send', 'later', 'done']
  const offers = createCaptureUpload()
  const send = async (offer: CaptureOffer): Promise<CaptureAnswer> => {
    sent.push(offer)
    return { answer: answers.shift() ?? 'done' }
  }
  t.equal(await offers(source, target, { request: 'now', uid: 'u' }, send, signal), 'again')
  t.equal(await offers(source, target, { request: 'now', uid: 'u' }, send, signal), 'done')
  t.equal(await offers(source, target, { request: 'now', uid: 'u' }, send, signal), 'done', 'a finished request is not sent again')
  t.equal(sent.length, 3)
  t.equal(await offers(source, target, { request: 'now', uid: 'made anew' }, send, signal), 'done')
  t.equal(sent.length, 4, 'but to a GatewaySync that is made anew and has not heard of it')
  t.equal(sent[0]?.changes, undefined, 'contents follow only when they are asked for')
  t.strictSame(
    sent[1]?.changes?.map(({ path: file }) => file),
    ['projects/line/a.txt'],
  )
  matchObject(t, sent[1]?.skipped, [{ path: 'projects/line/large.bin' }])
  lacksText(t, JSON.stringify(sent), base64('outside'))
})
