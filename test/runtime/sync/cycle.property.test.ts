/**
 * Tests that for any trees the folder ends at exactly the desired one, with differences or a listing, staged before or after planning.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { systemClock } from '../../../runtime/platform/clock.ts'
import { silentLog } from '../../../runtime/platform/log/log.ts'
import { type EngineMemory, runCycle } from '../../../runtime/sync/cycle.ts'
import { listTree } from '../../../scripts/quickstart/check.ts'
import { memorySource, profileOf, type Tree, desiredOf } from '../../support/memory-source.ts'
import { temporaryFolder } from '../../support/repository.ts'

const name = fc.constantFrom('a', 'b', 'c', 'd e', 'ü')
const pathBelow = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => `projects/${parts.join('/')}`)
const tree = fc.dictionary(pathBelow, fc.constantFrom('', '1', '2', 'x'.repeat(200_000)), { maxKeys: 8 }).map(withoutCollisions)

/** In git, a path cannot be a file and a folder at once. */
function withoutCollisions(paths: Tree): Tree {
  const names = Object.keys(paths)
  return Object.fromEntries(Object.entries(paths).filter(([file]) => !names.some((other) => other.startsWith(`${file}/`))))
}

function contentOf(dataDir: string): Tree {
  return Object.fromEntries(
    listTree(path.join(dataDir, 'projects')).map((file) => [
      `projects/${file}`,
      readFileSync(path.join(dataDir, 'projects', file), 'utf8'),
    ]),
  )
}

void t.test('through any sequence of commits the folder matches each of them and keeps nothing of earlier ones', async (t) => {
  const folder = temporaryFolder(t, 'property')
  const signal = AbortSignal.timeout(120_000)
  const profile = profileOf([{ source: 'projects', destination: 'projects', required: false }])
  let run = 0
  await fc.assert(
    fc.asyncProperty(fc.array(tree, { minLength: 2, maxLength: 4 }), fc.boolean(), fc.boolean(), async (trees, restarts, lists) => {
      const dataDir = path.join(folder, String((run += 1)))
      mkdirSync(dataDir)
      const source = memorySource()
      let memory: EngineMemory = { manifest: undefined }
      let last: Tree = {}
      for (const desired of trees) {
        if (restarts) memory = { manifest: undefined }
        const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory }
        const commit = source.commit(desired)
        const result = await runCycle(deps, desiredOf(dataDir, commit, profile), signal)
        // Without the base commit a source returns no differences.
        if (lists) source.forget(commit)
        if (result.phase !== 'Synced') throw new Error(`${result.phase}: ${result.reason ?? ''} ${result.message ?? ''}`)
        // A missing optional source keeps its files, so an empty tree changes nothing.
        last = Object.keys(desired).length === 0 ? last : desired
        const present = contentOf(dataDir)
        if (!isDeepStrictEqual(present, { ...last })) return false
      }
      rmSync(dataDir, { recursive: true, force: true })
      return true
    }),
    { numRuns: 150 },
  )
})
