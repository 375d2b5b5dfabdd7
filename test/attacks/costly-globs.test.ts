/**
 * The globs of a tenant, compared with texts of the tenant: lists that would take long are refused when the spec is read, and the most
 * costly lists that are accepted take little time for each text.
 */
import t from 'tap'
import * as v from 'valibot'
import { brokenGlobListRule, brokenGlobRule, createMatcher } from '../../runtime/api/glob/glob.ts'
import { gatewaySyncSpec } from '../../runtime/api/schema/spec.ts'
import { chooseRef } from '../../runtime/receiver/request/choose-ref.ts'
import { parseSettings } from '../../runtime/validation/rules/severities.ts'
import { rejectsWith } from '../support/assertions.ts'
import type { FullRef } from '../../runtime/api/values.ts'

const git = { repo: 'https://git.example.com/plant.git' }
const sync = { profiles: { default: { mappings: [{ source: 'a', destination: 'projects/a' }] } } }

/** The same letters for each run. */
let seed = 1
function letters(length: number, of = 'ab'): string {
  return Array.from({ length }, () => {
    seed = (seed * 48_271) % 2_147_483_647
    return of[seed % of.length]
  }).join('')
}

const costly = (length: number): string => Array.from(letters(length / 2), (letter) => `*${letter}`).join('')
const list = (count: number, length: number): string[] => Array.from({ length: count }, () => costly(length))

function problemsOf(spec: object): string[] {
  return (v.safeParse(gatewaySyncSpec({ allowLocal: false }), spec).issues ?? []).map((issue) => `${v.getDotPath(issue)}: ${issue.message}`)
}

/** CPU time, as the test machine may be busy. */
function cpuMs(work: () => unknown): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

const tooMany = 'must have at most 8192 characters in patterns with wildcards, with all alternatives written out'

void t.test('a list of globs that would take long for each text is refused, naming its key', async (t) => {
  const globs = list(64, 252)
  t.strictSame(problemsOf({ git: { ...git, allowedRefs: globs }, sync }), [`git.allowedRefs: ${tooMany}`])
  t.strictSame(problemsOf({ git, sync: { ...sync, defaults: { excludePatterns: globs } } }), [`sync.defaults.excludePatterns: ${tooMany}`])
  const stages = Array.from({ length: 8 }, (_, index) => ({ name: `s${index}`, selector: { names: list(8, 252) } }))
  t.strictSame(problemsOf({ git, sync, rollout: { stages: [...stages, { name: 'rest' }] } }), [
    `rollout.stages: selector.names of all stages ${tooMany.replace('8192', '1024')}`,
  ])
  const settings = `rules: {orphan-file: [{paths: ${JSON.stringify(globs)}, severity: off}]}`
  await rejectsWith(t, parseSettings(settings), {
    reason: 'InvalidConfiguration',
    message: `.clustersync.yaml rules.orphan-file: "paths" ${tooMany}`,
  })
})

void t.test('a glob with too many combinations of alternatives is refused', async (t) => {
  const message = 'has more than 2048 characters with all alternatives written out; use fewer of {a,b} and [ab]'
  t.equal(brokenGlobRule('{a,b}'.repeat(100)), message)
  t.equal(brokenGlobRule('[ab]'.repeat(100)), message)
  t.equal(brokenGlobRule('{a,b}'.repeat(7)), undefined)
})

void t.test('a list that distinguishes thousands of characters is refused', async (t) => {
  const globs = Array.from(
    { length: 4 },
    (_, index) => `*${String.fromCodePoint(...Array.from({ length: 250 }, (_, at) => 0x4e00 + 500 * index + 2 * at))}`,
  )
  t.equal(brokenGlobListRule(globs, 'ref'), 'must use at most 512 different characters in patterns with wildcards')
  t.equal(brokenGlobListRule(globs.slice(0, 2), 'ref'), undefined)
})

void t.test('long lists of usual globs are accepted', async (t) => {
  const names = Array.from({ length: 16 }, (_, stage) =>
    Array.from({ length: 64 }, (_, index) => `ignition-gateway-line-${stage}-${index}`),
  )
  const stages = names.map((each, index) => ({ name: `s${index}`, selector: { names: [...each.slice(1), `plant-${index}-*`] } }))
  const excludePatterns = Array.from({ length: 64 }, (_, index) => `**/com.inductiveautomation.perspective/views/Old ${index}/**`)
  const allowedRefs = Array.from({ length: 64 }, (_, index) => `refs/tags/plant-${index}/v[0-9]*.{0,1,2,3}`)
  t.strictSame(
    problemsOf({
      git: { ...git, allowedRefs },
      sync: { ...sync, defaults: { excludePatterns } },
      rollout: { stages: [...stages.slice(0, 15), { name: 'rest' }] },
    }),
    [],
  )
})

void t.test('the most costly list takes milliseconds for a text, and a call with many refs is answered', async (t) => {
  const globs = list(32, 252)
  t.equal(brokenGlobListRule(globs, 'ref'), undefined)
  const matches = createMatcher(globs, 'ref')
  const texts = Array.from({ length: 100 }, () => letters(253))
  const each = cpuMs(() => texts.map(matches)) / texts.length
  t.ok(each < 40, `${each} ms`)
  const named = (ref: string) => ({ ref: `refs/tags/${ref}` as FullRef, event: 'tag-push' as const })
  const [first = named('a'), ...others] = Array.from({ length: 1_000 }, () => named(letters(200)))
  const target = { specRef: 'main', desiredRef: 'main', allowedRefs: globs.map((glob) => `${glob}c`) }
  const call = cpuMs(() => t.strictSame(chooseRef({ ...first, others }, target), { why: 'RefNotAllowed' }))
  t.ok(call < 4_000, `${call} ms`)
})

void t.test('names of stages, which are matched with thousands of gateways at once, are limited further', async (t) => {
  const stages = (count: number) => [{ name: 'first', selector: { names: list(count, 250) } }, { name: 'rest' }]
  t.strictSame(problemsOf({ git, sync, rollout: { stages: stages(4) } }), [])
  t.strictSame(problemsOf({ git, sync, rollout: { stages: stages(5) } }), [
    'rollout.stages: selector.names of all stages must have at most 1024 characters in patterns with wildcards, with all alternatives written out',
  ])
})
