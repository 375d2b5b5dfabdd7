import t from 'tap'
import { type ValidationRequest, validatedRoots } from '../../../../runtime/validation/run/coverage.ts'
import { createValidator } from '../../../../runtime/validation/run/validate-commit.ts'
import type { VersionedListing } from '../../../../runtime/validation/model/listing.ts'
import type { Verdict } from '../../../../runtime/reconcile/decide/observation.ts'
import { resolveProfile } from '../../../../runtime/api/schema/profile.ts'
import { gatewaySyncSpec } from '../../../../runtime/api/schema/spec.ts'
import { parseCommitHash } from '../../../../runtime/api/values.ts'
import { matchObject } from '../../../support/assertions.ts'
import * as v from 'valibot'
import { commitListing, config, type Files, modeJson, resource, root, validTree } from '../../../support/collection-tree.ts'

const signal = new AbortController().signal
const commit = parseCommitHash('a'.repeat(40))
const collections = { collections: { root } }

function request(profiles: Record<string, object>, validation: object = {}, modesInUse?: string[]): ValidationRequest {
  const spec = v.parse(gatewaySyncSpec({ allowLocal: true }), {
    git: { repo: 'https://git.example.com/a.git', ref: 'main' },
    sync: { profiles },
    validation,
  })
  const resolved = Object.keys(profiles).map((name) => resolveProfile(spec.sync, name))
  return { profiles: resolved, validation: spec.validation, modesInUse, commit, line: 'main' }
}

async function validate(files: Files, asked: ValidationRequest): Promise<Verdict> {
  return await createValidator().validate(listingAt(files), asked, signal)
}

/** A repository with a single commit. */
function listingAt(files: Files): VersionedListing {
  return commitListing(new Map([[commit, files]]), commit)
}

function rulesOf(verdict: Verdict): string[] {
  return verdict.kind === 'notChecked' ? ['not checked'] : verdict.items.map(({ rule, severity }) => `${severity} ${rule}`)
}

const withFiles = (...added: Files[]): Files => Object.assign(validTree(), ...added) as Files
/** A singleton that exists only in dev. */
const broken = withFiles(resource('dev/ignition/cobranding', config({})))

void t.test('a valid tree is checked and has no findings', async (t) => {
  t.strictSame(await validate(validTree(), request({ default: collections })), { kind: 'checked', errors: 0, warnings: 0, items: [] })
})

void t.test('an error in a mode counts only if the mode is in use or no mode is known', async (t) => {
  t.strictSame(rulesOf(await validate(broken, request({ default: collections }))), ['error singleton-only-in-mode'])
  t.strictSame(rulesOf(await validate(broken, request({ default: collections }, {}, ['DEV']))), ['error singleton-only-in-mode'])
  t.strictSame(rulesOf(await validate(broken, request({ default: collections }, {}, ['prod']))), [])
})

void t.test('an error in the parent of a mode in use counts', async (t) => {
  const files = { ...broken, [`${root}/prod/config-mode.json`]: modeJson('Prod', 'dev') }
  t.strictSame(rulesOf(await validate(files, request({ default: collections }, {}, ['prod']))), ['error singleton-only-in-mode'])
})

void t.test('a mode in use without a folder is a warning', async (t) => {
  t.strictSame(rulesOf(await validate(validTree(), request({ default: collections }, {}, ['staging']))), ['warning mode-without-folder'])
})

void t.test('a finding has the line of its file, if it is known', async (t) => {
  const files = withFiles({ [`${root}/dev/config-mode.json`]: modeJson('Dev', 'cor'), [`${root}/dev/stray.txt`]: 'x' })
  const verdict = await validate(files, request({ default: collections }))
  const lines = verdict.kind === 'checked' ? verdict.items.map(({ rule, line }) => [rule, line]) : []
  t.strictSame(lines, [
    ['unknown-parent', 6],
    ['orphan-file', undefined],
  ])
})

void t.test('excluded and undelivered files are not validated', async (t) => {
  t.strictSame(rulesOf(await validate(broken, request({ default: { ...collections, excludePatterns: ['ignition/cobranding'] } }))), [])
  const local = withFiles({ [`${root}/local/ignition/x/resource.json`]: '{' }, { [`${root}/.resources/aa`]: 'x' })
  t.strictSame(rulesOf(await validate(local, request({ default: collections }))), [])
})

void t.test('excluding a manifest reports its data as missing a manifest', async (t) => {
  const verdict = await validate(
    validTree(),
    request({ default: { ...collections, excludePatterns: ['ignition/system-properties/resource.json'] } }),
  )
  matchObject(t, rulesOf(verdict), Array(3).fill('warning missing-resource-json'))
})

void t.test('mapped folders are validated if they contain collections', async (t) => {
  const whole = { mappings: [{ source: 'services/config', destination: 'config' }] }
  t.strictSame(rulesOf(await validate(broken, request({ default: whole }))), ['error singleton-only-in-mode'])
  const one = { mappings: [{ source: `${root}/dev`, destination: 'config/resources/dev' }] }
  t.strictSame(rulesOf(await validate(broken, request({ default: one }))).toSorted(), [
    'warning singleton-only-in-mode',
    'warning singleton-only-in-mode',
  ])
  const projects = { mappings: [{ source: 'services/projects', destination: 'projects' }] }
  t.strictSame(rulesOf(await validate({ ...broken, 'services/projects/a/project.json': '{}' }, request({ default: projects }))), [
    'not checked',
  ])
})

void t.test('files changed by templates are left to the agent', async (t) => {
  const files = withFiles({ [`${root}/core/ignition/system-properties/resource.json`]: '{{ vars.x }}' })
  const mapping = { source: 'services/config', destination: 'config' }
  t.strictSame(rulesOf(await validate(files, request({ default: { mappings: [mapping] } }))), ['error invalid-resource-json'])
  t.strictSame(rulesOf(await validate(files, request({ default: { mappings: [{ ...mapping, template: true }] } }))), [])
})

void t.test('profiles with the same content are counted once', async (t) => {
  matchObject(
    t,
    await validate(
      broken,
      request({ default: collections, other: { ...collections, dryRun: true }, third: { ...collections, excludePatterns: ['x'] } }),
    ),
    {
      errors: 1,
      warnings: 0,
    },
  )
})

void t.test('the GatewaySync sets severities, and the repository may only raise them', async (t) => {
  t.strictSame(rulesOf(await validate(broken, request({ default: collections }, { rules: { 'singleton-only-in-mode': 'off' } }))), [])
  const lowered = { ...broken, '.clustersync.yaml': 'rules: {singleton-only-in-mode: off}' }
  t.strictSame(rulesOf(await validate(lowered, request({ default: collections }))), ['error singleton-only-in-mode'])
  const raised = {
    ...withFiles(resource('core/ignition/quickstart', config({}))),
    '.clustersync.yaml': 'rules: {first-boot-conflict: error}',
  }
  t.strictSame(rulesOf(await validate(raised, request({ default: collections }))), ['error first-boot-conflict'])
  t.strictSame(rulesOf(await validate(raised, request({ default: collections }, { rules: { 'first-boot-conflict': 'warning' } }))), [
    'warning first-boot-conflict',
  ])
})

void t.test('settings without effect are reported as warnings', async (t) => {
  const files = { ...validTree(), '.clustersync.yaml': 'rules: {nope: off}' }
  t.strictSame(rulesOf(await validate(files, request({ default: collections }, { rules: { 'no-such-rule': 'off' } }))), [
    'warning invalid-settings',
    'warning invalid-settings',
  ])
})

void t.test('with the policy Off nothing is validated', async (t) => {
  t.strictSame(await validate(broken, request({ default: collections }, { policy: 'Off' })), { kind: 'notChecked' })
})

void t.test('the listing covers the sources of the profiles and the settings file', async (t) => {
  t.strictSame(validatedRoots(request({ default: collections }).profiles), [root, '.clustersync.yaml'])
  t.strictSame(validatedRoots(request({ default: { mappings: [{ source: '.', destination: 'x' }] } }).profiles), [''])
})

void t.test('at most 50 findings are kept, errors first, and all are counted', async (t) => {
  const many = Array.from({ length: 60 }, (_, index) => ({ [`${root}/core/ignition/schedule/s${index}/config.json`]: '{}' }))
  const verdict = await validate(withFiles(resource('dev/ignition/cobranding', config({})), ...many), request({ default: collections }))
  matchObject(t, verdict, { kind: 'checked', errors: 1, warnings: 60 })
  const kept = rulesOf(verdict)
  t.equal(kept.length, 50)
  t.equal(kept[0], 'error singleton-only-in-mode')
})

/** Sixty findings about files with long names. */
const wordy = (name: string) =>
  withFiles(...Array.from({ length: 60 }, (_, index) => ({ [`${root}/core/ignition/schedule/${name}${index}/config.json`]: '{}' })))

void t.test('as many findings are kept as 8 KiB hold, and all are counted', async (t) => {
  const verdict = await validate(wordy('ä'.repeat(110)), request({ default: collections }))
  matchObject(t, verdict, { kind: 'checked', errors: 0, warnings: 60 })
  const items = verdict.kind === 'checked' ? verdict.items : []
  const bytes = items.reduce((sum, { rule, path, message }) => sum + Buffer.byteLength(rule + path + message), 0)
  t.ok(bytes > 7 * 1024 && bytes <= 8 * 1024, `${bytes} bytes`)
})

void t.test('validations run one at a time, and equal ones only once', async (t) => {
  let lists = 0
  let running = 0
  let most = 0
  const inner = listingAt(broken)
  const listing: VersionedListing = {
    ...inner,
    async *list(own) {
      lists += 1
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setImmediate(resolve))
      yield* inner.list(own)
      running -= 1
    },
    async read(entries, sink, own) {
      running += 1
      most = Math.max(most, running)
      await new Promise((resolve) => setImmediate(resolve))
      await inner.read(entries, sink, own)
      running -= 1
    },
  }
  const validator = createValidator()
  const asked = request({ default: collections })
  const other = { ...asked, commit: parseCommitHash('b'.repeat(40)), line: 'other' }
  const verdicts = await Promise.all([asked, asked, other, asked].map((each) => validator.validate(listing, each, signal)))
  // One listing for roots and one for their content, for each of two commits.
  t.equal(lists, 4)
  t.equal(most, 1)
  t.equal(new Set(verdicts.map((verdict) => JSON.stringify(verdict))).size, 1)
})

void t.test('a failed validation does not block others and is retried', async (t) => {
  const validator = createValidator()
  const failing: VersionedListing = {
    ...listingAt(broken),
    // oxlint-disable-next-line require-yield -- it fails before
    async *list() {
      throw new Error('gone')
    },
    async read() {},
  }
  const asked = request({ default: collections })
  await t.rejects(validator.validate(failing, asked, signal), /gone/)
  matchObject(t, await validator.validate(listingAt(broken), asked, signal), { kind: 'checked', errors: 1 })
})

void t.test('excludePatterns of a profile are relative to each collection', async (t) => {
  const files = withFiles(resource('core/ignition/quickstart', config({})))
  const validateWithout = async (pattern: string): Promise<string[]> =>
    rulesOf(
      await validate(
        files,
        request({ default: { ...collections, excludePatterns: [pattern] } }, { rules: { 'first-boot-conflict': 'warning' } }),
      ),
    )
  t.strictSame(await validateWithout('ignition/quickstart'), [])
  t.strictSame(await validateWithout('core/ignition/quickstart'), ['warning first-boot-conflict'])
})

void t.test('a root below var is validated if a profile maps it', async (t) => {
  const moved = Object.fromEntries(Object.entries(broken).map(([path, text]) => [path.replace('services/', 'var/plant/'), text]))
  const profile = { mappings: [{ source: 'var/plant/config', destination: 'config' }] }
  t.strictSame(rulesOf(await validate(moved, request({ default: profile }))), ['error singleton-only-in-mode'])
  t.strictSame(rulesOf(await validate(moved, request({ default: { mappings: [{ source: '.', destination: '.' }] } }))), ['not checked'])
})

void t.test('references between resources are validated again when one of them changes', async (t) => {
  const folder = 'core/com.inductiveautomation.historian/historian-provider/core'
  const naming = (datasource: string, more = {}): Files => resource(folder, config({ ...more, settings: { storage: { datasource } } }))
  const plain = (number: number): Files => resource('core/ignition/schedule/a', config({ number }))
  const trees = [
    withFiles(naming('erp'), plain(0)),
    withFiles(naming('erp'), plain(1)),
    withFiles(naming('historian'), plain(1)),
    withFiles(naming('historian', { text: 'x' }), plain(2)),
    withFiles(naming('erp'), plain(2)),
  ]
  const commits = new Map(trees.map((files, index) => [parseCommitHash(String(index).repeat(40)), files]))
  const validator = createValidator()
  const told: string[][] = []
  for (const commit of commits.keys()) {
    const verdict = await validator.validate(commitListing(commits, commit), { ...request({ default: collections }), commit }, signal)
    t.strictSame(
      verdict,
      await createValidator().validate(commitListing(commits, commit), { ...request({ default: collections }), commit }, signal),
    )
    told.push(rulesOf(verdict).filter((rule) => rule.endsWith('missing-reference')))
  }
  const missing = told[0] ?? []
  t.not(missing.length, 0, 'the first names a database connection that is not there')
  t.strictSame(told, [missing, missing, [], [], missing])
})

void t.test('a namespace with large verdicts displaces its own, not those of another, also in the next thread', async (t) => {
  let lists = 0
  const listing = listingAt(wordy('x'.repeat(220)))
  const counted: VersionedListing = {
    ...listing,
    list(...own) {
      lists += 1
      return listing.list(...own)
    },
  }
  let validator = createValidator()
  const check = async (namespace: string, line: string, mode: string): Promise<void> => {
    await validator.validate(counted, { ...request({ default: collections }, {}, [mode]), namespace, line }, signal)
  }
  await check('quiet', 'main', 'dev')
  for (let index = 0; index < 70; index += 1) await check('loud', 'main', `first-${index}`)
  validator = createValidator(validator.handOver())
  for (let index = 0; index < 70; index += 1) await check('loud', 'main', `second-${index}`)
  const before = lists
  await check('quiet', 'a line without kept files', 'dev')
  t.equal(lists, before, 'the verdict is known')
  await check('loud', 'another line without kept files', 'first-0')
  t.ok(lists > before, 'the oldest of the other namespace is not')
})
