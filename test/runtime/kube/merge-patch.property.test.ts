import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import t from 'tap'
import { mergePatchBetween } from '../../../runtime/kube/merge-patch.ts'

type Members = Record<string, unknown>

/** Applies a merge patch (RFC 7396, section 2) as the API server does. */
function apply(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch
  const result: Members = typeof target === 'object' && target !== null && !Array.isArray(target) ? { ...target } : {}
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key]
    else result[key] = apply(result[key], value)
  }
  return result
}

const leaf = fc.oneof(fc.integer(), fc.string({ maxLength: 3 }), fc.boolean())
const key = fc.constantFrom('a', 'b', 'c')
const members = fc.letrec((tie) => ({
  value: fc.oneof({ depthSize: 'small' }, leaf, fc.array(leaf, { maxLength: 3 }), tie('members')),
  members: fc.dictionary(key, tie('value'), { maxKeys: 3 }),
})).members as fc.Arbitrary<Members>

void t.test('the patch between two values turns the first into the second', async () => {
  fc.assert(
    fc.property(members, members, (before, after) => {
      const patch = mergePatchBetween(before, after)
      const result = patch === undefined ? before : apply(before, patch)
      return isDeepStrictEqual(JSON.parse(JSON.stringify(result)), JSON.parse(JSON.stringify(after)))
    }),
    { numRuns: 500 },
  )
})

void t.test('equal values need no patch', async () => {
  fc.assert(fc.property(members, (value) => mergePatchBetween(value, structuredClone(value)) === undefined))
})
