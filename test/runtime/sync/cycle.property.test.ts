/**
 * Whatever the trees are, the folder ends at exactly the wanted one: by differences as by listing, staged ahead of the plan or after it.
 */
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { systemClock } from '../../../runtime/clock.ts'
import { silentLog } from '../../../runtime/log.ts'
import { type EngineMemory, runCycle } from '../../../runtime/sync/cycle.ts'
import { listTree } from '../../../scripts/quickstart/check.ts'
import { memorySource, profileOf, type Tree, wantedOf } from '../../support/memory-source.ts'
import { temporaryFolder } from '../../support/repository.ts'

const name = fc.constantFrom('a', 'b', 'c', 'd e', 'ü')
const pathBelow = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => `projects/${parts.join('/')}`)
const tree = fc.dictionary(pathBelow, fc.constantFrom('', '1', '2', 'x'.repeat(200_000)), { maxKeys: 8 }).map(withoutCollisions)

/** git has no path that is a file and a folder at once. */
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

void t.test('through any three commits the folder is exactly each of them, and nothing of an earlier one stays', async (t) => {
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
      for (const wanted of trees) {
        if (restarts) memory = { manifest: undefined }
        const deps = { source, gateway: undefined, clock: systemClock, log: silentLog, memory }
        const commit = source.commit(wanted)
        const result = await runCycle(deps, wantedOf(dataDir, commit, profile), signal)
        // Without the base a source gives no differences.
        if (lists) source.forget(commit)
        if (result.phase !== 'Synced') throw new Error(`${result.phase}: ${result.reason ?? ''} ${result.message ?? ''}`)
        // An absent optional source is left alone, so an empty tree keeps what was there.
        last = Object.keys(wanted).length === 0 ? last : wanted
        const present = contentOf(dataDir)
        if (!isDeepStrictEqual(present, { ...last })) return false
      }
      rmSync(dataDir, { recursive: true, force: true })
      return true
    }),
    { numRuns: 150 },
  )
})
