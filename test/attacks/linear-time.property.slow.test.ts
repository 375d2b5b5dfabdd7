/**
 * Functions that process untrusted text take linear time: each gets 64 KiB of its worst input, and twice the text may take about twice the
 * time. The table names the origin of the text.
 */
import { Readable } from 'node:stream'
import t from 'tap'
import { parseDownwardFile } from '../../runtime/agent/desired.ts'
import { findHosts } from '../../runtime/validation/rules/hosts.ts'
import { damageOf } from '../../runtime/validation/model/json-damage.ts'
import { likelyPlace } from '../../runtime/validation/model/known-types.ts'
import { parseMode, parseResource } from '../../runtime/validation/model/manifests.ts'
import { notesOf, viewNotesOf } from '../../runtime/validation/model/notes.ts'
import { createReferences, tagDefinitionType, viewType } from '../../runtime/validation/model/references.ts'
import { findProjectRoots, parseProject, rootOf } from '../../runtime/validation/model/projects.ts'
import { modeInArgument, modeInIgnitionConf } from '../../runtime/api/mode.ts'
import { parseSettings, repositorySeverity } from '../../runtime/validation/rules/severities.ts'
import { compactJson, members } from '../../runtime/validation/rules/signature.ts'
import { Fault } from '../../runtime/platform/fault.ts'
import { isRefAllowed } from '../../runtime/reconcile/decide/allowed-refs.ts'
import { brokenGlobRule, canonicalGlob, createExcluder } from '../../runtime/api/glob/glob.ts'
import { isRefName, parseRelativePath, printable } from '../../runtime/api/values.ts'
import { createPeers } from '../../runtime/http/client-address.ts'
import { readKeyring } from '../../runtime/git/verify/keyring.ts'
import { copyReferences, createCopies } from '../../runtime/injection/variables.ts'
import { createLog } from '../../runtime/platform/log/log.ts'
import { readTar } from '../../runtime/git/oci/tar.ts'
import { dockerLogin } from '../../runtime/git/credentials/read.ts'
import { maskSecrets } from '../../runtime/sync/plan/mask.ts'
import { folderOfCollections } from '../../runtime/git/content/near-path.ts'
import { parseCommitSummary } from '../../runtime/git/content/commit-summary.ts'
import { archiveOf } from '../support/archive.ts'
import { authenticate } from '../support/authenticate.ts'
import { readPayload } from '../../runtime/receiver/payload/payload.ts'
import { redactUrls } from '../../runtime/platform/log/redact.ts'
import { faultOf } from '../../runtime/git/command/faults.ts'
import { applySettings } from '../../runtime/sync/render/patch.ts'
import { createTemplateEngine } from '../../runtime/sync/render/template.ts'
import { Temporal } from '../../runtime/platform/temporal.ts'
import { findDataVolume } from '../../runtime/injection/volumes.ts'
import { differences } from '../../runtime/sync/plan/shown-diff.ts'
import { createScan } from '../../runtime/platform/text/json.ts'

const noted = (type: string, file: string, value: unknown): Parameters<typeof notesOf>[0] => ({
  kind: 'collections',
  type,
  key: `${type}/default`,
  json: new Map([[file, value]]),
  hashes: new Map(),
  manifest: undefined,
  attributes: {},
  isPartial: false,
})

const bytes = 64 * 1024

const keyBlock = '-----BEGIN PGP PUBLIC KEY BLOCK-----\n\nmAgEAAAAAQEAAA==\n-----END PGP PUBLIC KEY BLOCK-----\n'

const units = [
  'a',
  '/',
  '@',
  ':',
  '.',
  '*',
  '$',
  '"',
  "'",
  ' ',
  '\n',
  '\\',
  '{',
  '[',
  '%',
  ',',
  '-',
  '=',
  '😀',
  '://',
  'a://',
  'https://a:',
  "repository '",
  "transport '",
  '[{},',
  'a+)+',
  keyBlock,
  '*a',
  '$(',
  '$(A)',
  '{{',
  '../',
  'jdbc:',
  ':a',
  'a@',
  '-Dignition.config.mode="',
  '\nwrapper.java.additional.1=',
  'a="',
  '\\"',
  '/config/resources',
  'remote: ',
  'error: ',
]

const log = createLog({ level: 'debug', destination: { write() {} } })
const globs = ['**/*a*a*a*a*b', '{a,aa}{a,aa}{a,aa}*{a,/}b', '**/a/**/*[ab]*?b'] as const
const excluded = createExcluder(globs)
const settings = await parseSettings(`rules: {orphan-file: [{paths: ${JSON.stringify(globs)}, severity: off}]}`)
const now = Temporal.Instant.from('2026-01-01T00:00:00Z')
const peers = createPeers(['10.0.0.0/8'])
const templates = createTemplateEngine()
const context = {
  gateway: { name: 'gateway' },
  pod: { name: 'gateway-0', ordinal: 0, labels: {} },
  namespace: 'plant',
  ref: 'main',
  commit: 'a'.repeat(40),
  vars: {},
}
const asked = (text: string) => ({
  url: { text, protocol: 'https' as const, user: undefined, host: 'git.example.com', port: undefined },
  access: { identity: '', texts: [], credentials: { kind: 'none' as const }, caBundle: undefined, proxy: undefined },
  proxy: undefined,
})
/** One delivery per git host, with untrusted text in every field. */
const deliveriesOf = (text: string) => {
  const push = {
    ref: `refs/heads/${text}`,
    after: text,
    repository: { full_name: text },
    changes: [text],
    resource: { refUpdates: [{ name: text }] },
  }
  return ['x-github-event', 'x-gitlab-event', 'x-gitea-event', 'x-event-key', 'x-gogs-event'].map((header) =>
    readPayload({ [header]: 'push' }, push),
  )
}
const utf8 = (text: string): Uint8Array => Buffer.from(text)
const many = <Item>(text: string, item: Item): Item[] => Array.from({ length: text.length / 16 }, () => item)
/** Many values under a long name. */
const nested = (text: string) => ({
  settings: { [text]: many(text, { type: 'Referenced', data: { providerName: 'a' }, datasource: 'a', viewPath: 'a' }) },
})
const tagsBelow = (text: string) => {
  const types = Array.from({ length: text.length / 16 }, (_, index) => ({ name: `t${index}`, tagType: 'UdtType', typeId: text }))
  return { name: text, tagType: 'Folder', tags: types }
}
const viewWith = (text: string) => ({
  root: {
    type: 'ia.display.view',
    props: { path: text, [text]: many(text, { viewPath: text }) },
    propConfig: { [`props.${text}`]: {}, 'props.b': { binding: {} } },
    events: { dom: many(text, { type: 'popup', config: { viewPath: text } }) },
    children: many(text, { type: 'ia.display.view', props: { path: text } }),
  },
})

/** The functions under test, by origin of the text. Expected faults do not matter here. */
const functions: Record<string, (text: string) => unknown> = {
  'redactUrls, whole (git, faults)': (text) => redactUrls(text),
  'redactUrls, the last letter cut': (text) => redactUrls(text, text.length - 1),
  'a log field and an error': (text) => log.info({ name: text, err: new Error(text) }, 'told'),
  'the message of a fault': (text) => new Fault('GitFailed', text),
  'printable (any message)': (text) => printable(text),
  'a path below many globs (repository)': (text) => excluded(text),
  'a path under the settings of a repository': (text) => repositorySeverity(settings)('orphan-file', text, 'error'),
  'a glob (spec, repository)': (text) => brokenGlobRule(text) ?? createExcluder([canonicalGlob(text)])('a/b'),
  'a ref under allowedRefs (receiver)': (text) => isRefAllowed(text, ['*a*a*a*a*ab', 'refs/**/a*']),
  'a pattern of allowedRefs (spec)': (text) => isRefAllowed('aaaa/aaaa', [text]),
  'a ref name (receiver)': (text) => isRefName(text),
  'a relative path (spec, delivery)': (text) => parseRelativePath(text),
  'a delivery of each git host (receiver)': deliveriesOf,
  'a delivery of no git host (receiver)': (text) =>
    readPayload({ 'x-github-event': text }, { ref: text, [text]: text, release: { tag_name: text } }),
  'who called, behind a proxy (X-Forwarded-For)': (text) => peers.of('10.0.0.1', text),
  'what git writes of a host (git host)': (text) => faultOf(text, 'fetch', asked('https://git.example.com/a.git')),
  'what git writes of a URL (spec)': (text) => faultOf(`fatal: ${text}\nfatal: unable to access`, 'fetch', asked(text)),
  'a template (repository)': (text) => templates.parse(text, 'a.json').render(context),
  'volumes of a pod': (text) =>
    findDataVolume({
      metadata: { annotations: { 'clustersync.io/data-volume': text } },
      spec: { volumes: [{ name: text }], containers: [{ name: 'gateway', volumeMounts: [{ name: text, mountPath: text }] }] },
    }),
  'headers of a delivery': (text) =>
    authenticate(
      { authorization: `Bearer ${text}`, 'x-hub-signature-256': text, 'webhook-signature': text, 'webhook-id': text },
      utf8('a'),
      { hmac: ['k'], tokens: ['k'] },
      now,
    ),
  'a body before it is parsed': (text) => createScan({ depth: 1e9, keys: 1e9, containers: 1e9, entries: 1e9 })(utf8(text)),
  'a value in a resource (repository)': (text) => findHosts({ host: text, password: [text], other: text }, 'a/b/c', 'config.json'),
  'a key in a resource (repository)': (text) =>
    findHosts({ [text]: Array.from({ length: text.length / 16 }, () => 'a.b') }, 'a/b/c', 'config.json'),
  'a manifest (repository)': (text) => parseResource(utf8(text)),
  'a manifest that lists a text': (text) => parseMode(utf8(JSON.stringify({ title: text, [text]: 1 }))),
  'a signed manifest': (text) => members(compactJson(JSON.stringify({ attributes: { [text]: text } }))),
  'what differs between modes': (text) => differences({ a: text }, { a: `${text}.` }),
  'what is wrong with a JSON file': (text) => damageOf(Buffer.from(`{"a":"${text}`), { keys: true }),
  'what is wrong with the keys of a JSON file': (text) => damageOf(Buffer.from(text.replaceAll(/[^"]/g, '{"a":0,"a":')), { keys: true }),
  'the type of a resource that none knows': (text) => likelyPlace(text, text),
  'names in a resource (repository)': (text) => notesOf(noted('ignition/alarm-journal', 'config.json', nested(text)), {}),
  'names in tags (repository)': (text) => notesOf(noted(tagDefinitionType, 'tags.json', tagsBelow(text)), {}),
  'views that a page names (repository)': (text) =>
    viewNotesOf('com.inductiveautomation.perspective/page-config', new Map([['config.json', nested(text)]]), createReferences()),
  'views that a view names (repository)': (text) => viewNotesOf(viewType, new Map([['view.json', viewWith(text)]]), createReferences()),
  'a project.json (repository)': (text) => parseProject(utf8(JSON.stringify({ title: text, parent: text, [text]: text }))),
  'where projects are (repository)': (text) => findProjectRoots([`${text}/project.json`, `${text}/ignition/script-python/resource.json`]),
  'a path of a repository': (text) => rootOf(text),
  'a path beside which collections may be (repository)': (text) => folderOfCollections(text),
  'arguments of a gateway (pod)': (text) => modeInArgument(text),
  'ignition.conf': (text) => modeInIgnitionConf(text),
  'annotations of a pod': (text) => parseDownwardFile(text),
  'keys of a Secret': (text) => readKeyring(new Map([['keys', Buffer.from(text.replace(/!$/, '').repeat(64))]])),
  'variables of a pod': (text) =>
    copyReferences(text, { name: 'gateway', env: [{ name: 'A', value: text.slice(0, 4096) }] }, createCopies()),
  'a JSON file under a patch': (text) => applySettings(JSON.stringify({ a: [text, { [text]: 1 }] }), [{ path: '$..b', value: '1' }], 'a'),
  'a path in an archive (registry)': pathInArchive,
  'a login of docker (Secret)': (text) => dockerLogin(JSON.stringify({ auths: { [`${text}\n`]: {}, [`a${text}`]: {} } }), 'a', 'auth'),
  'who made a commit (repository)': (text) => parseCommitSummary(Buffer.from(`tree a\nauthor x${text}y <a@b>\n\n${text}`)),
  'who made a commit, malformed (repository)': (text) =>
    parseCommitSummary(Buffer.from(`author ${text.replaceAll('\n', '\nauthor ')}\n\na`)),
  'secrets in a JSON file that is shown (repository)': (text) =>
    maskSecrets(undefined, utf8(JSON.stringify({ password: 'a', [text]: text }))),
  'many secrets in a JSON file that is shown (repository)': (text) =>
    maskSecrets(undefined, utf8(JSON.stringify({ [text]: many(text, { token: 1 }) }))),
  'secrets in a text that is shown (repository)': (text) => maskSecrets(utf8(text), utf8(`{"password":"a","b":"${text}`)),
  'the value of a name in a text that is shown (repository)': (text) => maskSecrets(undefined, utf8(`password: x${text}y`)),
  'a path of a patch (spec)': (text) => applySettings('{"a":1}', [{ path: text, value: '1' }], 'a'),
}

/** The path of a file in an archive, which may have 32 KiB. */
async function pathInArchive(text: string): Promise<unknown> {
  const archive = archiveOf(
    { name: 'long', type: 'L', content: text.slice(0, text.length / 4) + text.slice(-text.length / 4) },
    { name: 'a' },
  )
  return await Array.fromAsync(readTar(Readable.from([archive]), archive.length), ({ path }) => path)
}

/** Below this many milliseconds of CPU time the call is harmless and the measurement is noise. */
const floorMs = 250
/** Twice the text takes twice as long in linear time and four times as long in quadratic time; garbage collection adds some. */
const most = 3.2

async function cpuMs(work: () => unknown): Promise<number> {
  const before = process.cpuUsage()
  try {
    await work()
  } catch (error) {
    if (!(error instanceof Fault)) throw error
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/** The minimum of several rounds; stops once it is at most `enough`. */
async function minMs(work: () => unknown, enough: number): Promise<number> {
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 5 && least > enough; round += 1) least = Math.min(least, await cpuMs(work))
  return least
}

for (const [name, run] of Object.entries(functions)) {
  void t.test(`${name}: linear time`, { timeout: 600_000 }, async (t) => {
    for (const unit of units) {
      for (const end of ['!']) {
        const text = unit.repeat(Math.floor(bytes / unit.length))
        const half = text.slice(0, text.length / 2) + end
        const whole = text + end
        const wholeMs = await minMs(() => run(whole), floorMs)
        if (wholeMs <= floorMs) continue
        const halfMs = await minMs(() => run(half), 0)
        if (wholeMs > most * halfMs) t.fail(`${JSON.stringify(unit)}: ${halfMs} ms, twice the text ${wholeMs} ms`)
      }
    }
    t.pass()
  })
}
