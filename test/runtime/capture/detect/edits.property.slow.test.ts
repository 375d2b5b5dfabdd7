/**
 * A captured change round-trips: its commit changes no file on the gateway where it was made, and gives every other gateway exactly the
 * captured change, rendered for that gateway's mode and name.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { type Capture, captureChanges } from '../../../../runtime/capture/detect/edits.ts'
import { findLocalChanges } from '../../../../runtime/capture/detect/local-changes.ts'
import { systemClock } from '../../../../runtime/platform/clock.ts'
import type { ResolvedProfile } from '../../../../runtime/api/schema/profile.ts'
import { silentLog } from '../../../../runtime/platform/log/log.ts'
import { runCycle, type SyncTarget } from '../../../../runtime/sync/cycle.ts'
import { readManifest } from '../../../../runtime/sync/disk/manifest-file.ts'
import { listTree } from '../../../../scripts/quickstart/check.ts'
import { type MemorySource, memorySource, profileOf, type Tree, desiredOf } from '../../../support/memory-source.ts'
import { temporaryFolder } from '../../../support/repository.ts'

const mode = (parent: string): string => JSON.stringify({ title: 'x', description: '', enabled: true, inheritable: true, parent })

const modes: Tree = {
  'gw/resources/core/config-mode.json': mode('external'),
  'gw/resources/dev/config-mode.json': mode('core'),
  'gw/resources/prod/config-mode.json': mode('core'),
}

type Rule = {
  source: string
  destination: string
  type?: 'File'
  template?: true
  patches?: { file: string; set: Record<string, string> }[]
}

/**
 * Two mappings to one destination, a template, a patched folder, one source for two destinations, and a single file inside another
 * mapping's folder.
 */
const rules: readonly Rule[] = [
  { source: 'gw/projects', destination: 'projects' },
  { source: 'gw/over', destination: 'projects/p1' },
  { source: 'gw/made', destination: 'made', template: true },
  { source: 'gw/patched', destination: 'patched', patches: [{ file: '**/*.json', set: { name: '{{ gateway.name }}' } }] },
  { source: 'gw/twice', destination: 'one' },
  { source: 'gw/twice', destination: 'two' },
  { source: 'gw/single.txt', destination: 'projects/p1/single.txt', type: 'File' },
]

/** A plant: its mappings in random order, with the last one taking precedence, and additional folders that are templates. */
const plant = fc
  .record({
    order: fc.shuffledSubarray([...rules], { minLength: rules.length }),
    templates: fc.subarray(['gw/projects', 'gw/over']),
  })
  .map(({ order, templates }): readonly Rule[] =>
    order.map((rule) => (templates.includes(rule.source) ? { ...rule, template: true } : rule)),
  )

function profileOfPlant(mappings: readonly Rule[]): ResolvedProfile {
  return profileOf(
    mappings.map((rule) => ({ ...rule, required: false })),
    // Excluded files are left unchanged.
    { collections: { root: 'gw/resources', mode: 'auto' }, excludePatterns: ['**/*.log'], maxDeletions: '100%' },
  )
}

const files = [
  'gw/projects/p1/a.txt',
  'gw/projects/p1/views/v/view.json',
  'gw/projects/p2/b.txt',
  'gw/over/a.txt',
  'gw/over/c.txt',
  'gw/made/m.txt',
  'gw/patched/n.json',
  'gw/twice/t.txt',
  'gw/single.txt',
  'gw/resources/core/ignition/x/one/config.json',
  'gw/resources/dev/ignition/x/one/config.json',
  'gw/resources/prod/ignition/x/two/config.json',
]
const content = fc.constantFrom(
  '1\n',
  'one\ntwo\nthree\n',
  '{"name":"n","b":1}',
  '{\n "name": "n",\n "b": 2\n}\n',
  'for {{ gateway.name }}\nmore\n',
)
const json = fc.constantFrom('{"name":"n","b":1}', '{\n "name": "n",\n "b": 2\n}\n')
const tree = fc
  .record(Object.fromEntries(files.map((file) => [file, file.endsWith('.json') ? json : content])), {
    requiredKeys: ['gw/projects/p1/a.txt'],
  })
  .map((chosen): Tree => ({ ...modes, ...(chosen as Tree) }))

const places = [
  'projects/p1/a.txt',
  'projects/p1/c.txt',
  'projects/p1/single.txt',
  'projects/p1/new/n.txt',
  'projects/p1/views/v/view.json',
  'projects/p2/b.txt',
  'projects/p2/x.log',
  'projects/p9/stranger.txt',
  'made/m.txt',
  'made/new.txt',
  'patched/n.json',
  'one/t.txt',
  'one/u.txt',
  'config/resources/core/ignition/x/one/config.json',
  'config/resources/dev/ignition/x/one/config.json',
  'config/resources/dev/ignition/x/new/config.json',
  'config/resources/dev/config-mode.json',
  'config/resources/prod/ignition/x/two/config.json',
  'config/resources/prod/ignition/x/two/new.json',
  'outside/z.txt',
]
const edit = fc.record({
  place: fc.constantFrom(...places),
  how: fc.oneof(
    fc.constantFrom('remove' as const, 'append' as const),
    content.map((text) => ({ text })),
  ),
})

/** Three gateways with two modes; the first is the one that is edited. */
const gateways = fc.constantFrom(['dev', 'dev', 'prod'] as const, ['prod', 'dev', 'prod'] as const)
const story = fc.record({
  plant,
  gateways,
  /** An earlier commit, if there is one. */
  earlier: fc.option(tree, { nil: undefined }),
  before: tree,
  edits: fc.array(edit, { minLength: 1, maxLength: 6 }),
  takesNew: fc.boolean(),
})

void t.test(
  'a captured change is not a change where it was made, and is exactly that change on other gateways',
  { timeout: 600_000 },
  async (t) => {
    const folder = temporaryFolder(t, 'capture')
    let run = 0
    let [captures, rendered, leaves] = [0, 0, 0]
    await fc.assert(
      fc.asyncProperty(story, async ({ plant: mappings, gateways: modesOf, earlier, before, edits, takesNew }) => {
        const source = memorySource()
        const own = path.join(folder, String((run += 1)))
        const profile = profileOfPlant(mappings)
        const [edited, ...others] = modesOf.map((of, index) =>
          gatewayIn({ dataDir: path.join(own, String(index)), mode: of, name: `press-${index}`, profile }, source),
        )
        if (edited === undefined) return
        for (const gateway of [edited, ...others]) {
          if (earlier !== undefined) await gateway.sync(earlier)
          await gateway.sync(before)
        }
        for (const { place, how } of edits) change(path.join(edited.dataDir, place), how)
        const present = edited.read()
        const { captured, skipped } = await edited.capture(before, takesNew)
        const after = applied(before, captured)
        for (const { op, path: file, source: place } of captured) {
          if (op === 'added' && place !== takerOf(before, mappings, file)) throw new Error(`${file} went to ${place}`)
        }
        captures += captured.length
        leaves += skipped.length
        rendered += captured.filter(({ source: file, content: made }) => made !== undefined && /made|patched/.test(file)).length
        await edited.sync(after)
        if (!isDeepStrictEqual(edited.read(), present)) throw new Error('the commit changed the gateway that it came from')
        for (const other of others) {
          const expected = { ...other.read() }
          const [was, is] = [other.model(before), other.model(after)]
          for (const file of new Set([...Object.keys(was), ...Object.keys(is)])) {
            if (was[file] === is[file]) continue
            delete expected[file]
            if (is[file] !== undefined) expected[file] = is[file]
          }
          await other.sync(after)
          if (!isDeepStrictEqual(other.read(), expected)) throw new Error(`${other.name} got something else than the captured change`)
        }
        const again = await edited.capture(after, takesNew)
        if (again.captured.length > 0) throw new Error(`what was captured is still a change: ${again.captured[0]?.path ?? ''}`)
        rmSync(own, { recursive: true, force: true })
      }),
      { numRuns: Number(process.env['CAPTURE_RUNS'] ?? 100) },
    )
    t.ok(captures > 50, `${captures} changes were captured`)
    t.ok(rendered > 1, `${rendered} of them went back through a template or a patch`)
    t.ok(leaves > 20, `${leaves} could not go back`)
  },
)

type Own = { dataDir: string; mode: string; name: string; profile: ResolvedProfile }

function gatewayIn({ dataDir, mode: of, name, profile }: Own, source: MemorySource) {
  mkdirSync(dataDir, { recursive: true })
  const signal = AbortSignal.timeout(120_000)
  const facts: SyncTarget['facts'] = {
    gatewayName: name,
    podName: name,
    ordinal: 0,
    podLabels: {},
    namespace: 'plant',
    mode: { name: of, from: 'Target' },
  }
  const desired = (at: Tree): SyncTarget => desiredOf(dataDir, source.commit(at), profile, { facts, confirmDeletions: source.commit(at) })
  return {
    name,
    dataDir,
    async sync(at: Tree): Promise<void> {
      const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory: { manifest: undefined } }
      const result = await runCycle(deps, desired(at), signal)
      if (!['Synced', 'Drifted'].includes(result.phase)) throw new Error(`${result.phase}: ${result.message ?? ''}`)
    },
    async capture(at: Tree, takesNew: boolean): Promise<Capture> {
      const place = desired(at)
      return captureChanges(await findLocalChanges(source, place, readManifest(dataDir), signal), place, () => takesNew)
    },
    read: (): Tree =>
      Object.fromEntries(
        listTree(dataDir)
          .filter((file) => !file.startsWith('.cluster-sync/'))
          .map((file) => [file, readFileSync(path.join(dataDir, file), 'utf8')]),
      ),
    model: (at: Tree): Tree => modelOf(at, profile, of, name),
  }
}

/** The files that a gateway gets from a tree, computed file by file and mapping by mapping; the last mapping wins. */
function modelOf(tree: Tree, { mappings }: ResolvedProfile, mode: string, name: string): Tree {
  const collections = ['external', 'core', mode].map((each) => ({
    source: `gw/resources/${each}`,
    destination: `config/resources/${each}`,
    rule: undefined,
  }))
  const result: Record<string, string> = {}
  for (const { source, destination, rule } of [...collections, ...mappings.map((rule) => ({ ...rule, rule }))]) {
    for (const [file, text] of Object.entries(tree)) {
      if (file !== source && !file.startsWith(`${source}/`)) continue
      result[destination + file.slice(source.length)] = rendered(text, rule, name)
    }
  }
  return result
}

/** The source for a new file: below the last folder that is delivered to its place, or in its collection. */
function takerOf(tree: Tree, mappings: readonly Rule[], file: string): string {
  const isThere = ({ source }: Rule): boolean => Object.keys(tree).some((each) => each.startsWith(`${source}/`))
  const taker = mappings.findLast((rule) => rule.type !== 'File' && file.startsWith(`${rule.destination}/`) && isThere(rule))
  if (taker === undefined) return file.replace('config/resources/', 'gw/resources/')
  return taker.source + file.slice(taker.destination.length)
}

function rendered(text: string, rule: ResolvedProfile['mappings'][number] | undefined, name: string): string {
  if (rule?.template === true) return text.replaceAll('{{ gateway.name }}', name)
  return (rule?.patches ?? []).length > 0 ? text.replace(/("name":\s*)"[^"]*"/, `$1"${name}"`) : text
}

function change(file: string, how: 'remove' | 'append' | { text: string }): void {
  if (how === 'remove') {
    rmSync(file, { force: true })
    return
  }
  mkdirSync(path.dirname(file), { recursive: true })
  if (how === 'append') writeFileSync(file, 'added at night\n', { flag: 'a' })
  else writeFileSync(file, how.text)
}

function applied(tree: Tree, captured: Capture['captured']): Tree {
  const result: Record<string, string> = { ...tree }
  for (const { source, content: made } of captured) {
    if (made === undefined) delete result[source]
    else result[source] = Buffer.from(made).toString('utf8')
  }
  return result
}
