/**
 * The circle closes: whatever was changed on a gateway and captured, the commit of it changes no file there, and gives every other gateway
 * exactly the captured change.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { type Capture, captureChanges } from '../../../runtime/capture/capture.ts'
import { findLocalChanges } from '../../../runtime/capture/local-changes.ts'
import { systemClock } from '../../../runtime/clock.ts'
import { silentLog } from '../../../runtime/log.ts'
import { runCycle, type Wanted } from '../../../runtime/sync/cycle.ts'
import { readManifest } from '../../../runtime/sync/disk/manifest-file.ts'
import { listTree } from '../../../scripts/quickstart/check.ts'
import { type MemorySource, memorySource, profileOf, type Tree, wantedOf } from '../../support/memory-source.ts'
import { temporaryFolder } from '../../support/repository.ts'

const mode = (parent: string): string => JSON.stringify({ title: 'x', description: '', enabled: true, inheritable: true, parent })

const modes: Tree = {
  'gw/resources/core/config-mode.json': mode('external'),
  'gw/resources/dev/config-mode.json': mode('core'),
  'gw/resources/prod/config-mode.json': mode('core'),
}

/** Two mappings for one place, one of them a template; a patched folder; one source for two places; something that is excluded. */
const profile = profileOf(
  [
    { source: 'gw/projects', destination: 'projects', required: false },
    { source: 'gw/over', destination: 'projects/p1', required: false },
    { source: 'gw/made', destination: 'made', required: false, template: true },
    {
      source: 'gw/patched',
      destination: 'patched',
      required: false,
      patches: [{ file: '**/*.json', set: { name: '{{ gateway.name }}' } }],
    },
    { source: 'gw/twice', destination: 'one', required: false },
    { source: 'gw/twice', destination: 'two', required: false },
  ],
  { collections: { root: 'gw/resources', mode: 'auto' }, excludePatterns: ['**/*.log'], maxDeletions: '100%' },
)

const files = [
  'gw/projects/p1/a.txt',
  'gw/projects/p1/views/v/view.json',
  'gw/projects/p2/b.txt',
  'gw/over/a.txt',
  'gw/over/c.txt',
  'gw/made/m.txt',
  'gw/patched/n.json',
  'gw/twice/t.txt',
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
  .record(Object.fromEntries(files.map((file) => [file, file.endsWith('.json') ? json : file.includes('made') ? content : content])), {
    requiredKeys: ['gw/projects/p1/a.txt'],
  })
  .map((chosen): Tree => ({ ...modes, ...(chosen as Tree) }))

const places = [
  'projects/p1/a.txt',
  'projects/p1/c.txt',
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
  'outside/z.txt',
]
const edit = fc.record({
  place: fc.constantFrom(...places),
  how: fc.oneof(
    fc.constantFrom('remove' as const, 'append' as const),
    content.map((text) => ({ text })),
  ),
})

void t.test('a captured change is no change where it was made, and that change elsewhere', async (t) => {
  const folder = temporaryFolder(t, 'capture')
  let run = 0
  let [captures, leaves] = [0, 0]
  await fc.assert(
    fc.asyncProperty(tree, fc.array(edit, { minLength: 1, maxLength: 6 }), fc.boolean(), async (before, edits, takesNew) => {
      const source = memorySource()
      const dev = gatewayIn(path.join(folder, `${(run += 1)}-dev`), 'dev', source)
      const prod = gatewayIn(path.join(folder, `${run}-prod`), 'prod', source)
      await dev.sync(before)
      await prod.sync(before)
      for (const { place, how } of edits) change(path.join(dev.dataDir, place), how)
      const edited = dev.read()
      const { captured, leftOut } = await dev.capture(before, takesNew)
      const after = applied(before, captured)
      const prodBefore = prod.read()
      await dev.sync(after)
      await prod.sync(after)
      captures += captured.length
      leaves += leftOut.length
      if (!isDeepStrictEqual(dev.read(), edited)) throw new Error('the commit changed the gateway that it came from')
      const expected = expectedElsewhere(before, after, prodBefore)
      if (!isDeepStrictEqual(prod.read(), expected)) throw new Error('another gateway got something else than the captured change')
      const again = await dev.capture(after, takesNew)
      if (again.captured.length > 0) throw new Error(`what was captured is still a change: ${again.captured[0]?.path ?? ''}`)
      for (const { dataDir } of [dev, prod]) rmSync(dataDir, { recursive: true, force: true })
    }),
    { numRuns: Number(process.env['CAPTURE_RUNS'] ?? 150) },
  )
  t.ok(captures > 50, `${captures} changes were captured`)
  t.ok(leaves > 20, `${leaves} could not go back`)
})

function gatewayIn(dataDir: string, name: string, source: MemorySource) {
  mkdirSync(dataDir)
  const signal = AbortSignal.timeout(120_000)
  const facts: Wanted['facts'] = {
    gatewayName: 'gw',
    podName: 'gw-0',
    ordinal: 0,
    podLabels: {},
    namespace: 'plant',
    mode: { name, from: 'target' },
  }
  const wanted = (of: Tree): Wanted => wantedOf(dataDir, source.commit(of), profile, { facts, confirmDeletions: source.commit(of) })
  return {
    dataDir,
    async sync(of: Tree): Promise<void> {
      const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory: { manifest: undefined } }
      const result = await runCycle(deps, wanted(of), signal)
      if (!['Synced', 'Drifted'].includes(result.phase)) throw new Error(`${result.phase}: ${result.message ?? ''}`)
    },
    async capture(of: Tree, takesNew: boolean): Promise<Capture> {
      const at = wanted(of)
      return captureChanges(await findLocalChanges(source, at, readManifest(dataDir), signal), at, () => takesNew)
    },
    read: (): Tree =>
      Object.fromEntries(
        listTree(dataDir)
          .filter((file) => !file.startsWith('.cluster-sync/'))
          .map((file) => [file, readFileSync(path.join(dataDir, file), 'utf8')]),
      ),
  }
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

/** Of prod: what its files are made of by itself, computed file by file. */
function expectedElsewhere(before: Tree, after: Tree, present: Tree): Tree {
  const result: Record<string, string> = { ...present }
  for (const source of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (before[source] === after[source]) continue
    for (const destination of destinationsIn(source)) {
      if (source.startsWith('gw/projects/p1/') && after[source.replace('gw/projects/p1/', 'gw/over/')] !== undefined) continue
      const made = after[source]
      if (made === undefined) delete result[destination]
      else result[destination] = rendered(source, made)
    }
  }
  return result
}

function destinationsIn(source: string): string[] {
  const rules: [string, string][] = [
    ['gw/projects/', 'projects/'],
    ['gw/over/', 'projects/p1/'],
    ['gw/made/', 'made/'],
    ['gw/patched/', 'patched/'],
    ['gw/twice/', 'one/'],
    ['gw/twice/', 'two/'],
    ['gw/resources/core/', 'config/resources/core/'],
    ['gw/resources/prod/', 'config/resources/prod/'],
  ]
  return rules.filter(([from]) => source.startsWith(from)).map(([from, to]) => to + source.slice(from.length))
}

function rendered(source: string, text: string): string {
  if (source.startsWith('gw/made/')) return text.replaceAll('{{ gateway.name }}', 'gw')
  return source.startsWith('gw/patched/') ? text.replace(/("name":\s*)"[^"]*"/, '$1"gw"') : text
}
