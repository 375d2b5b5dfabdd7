import fc from 'fast-check'
import t from 'tap'
import { createObservations, type Observed } from '../../../../runtime/sync/plan/observed.ts'

const path = fc.array(fc.constantFrom('a', 'b', 'ab'), { minLength: 1, maxLength: 3 }).map((names) => names.join('/'))

void t.test('everything below a missing folder is absent, everything else is what was set, and the rest was not inspected', async (t) => {
  fc.assert(
    fc.property(fc.uniqueArray(path, { maxLength: 8 }), fc.array(path, { maxLength: 8 }), (paths, missing) => {
      const observations = createObservations()
      const isMissing = (one: string): string | undefined => missing.toSorted().find((folder) => one.startsWith(`${folder}/`))
      const seen = (one: string): Observed => {
        const topmost = isMissing(one)
        return topmost === undefined ? { kind: 'folder', files: [one] } : { kind: 'absent', topmost }
      }
      const expected = new Map(paths.map((one) => [one, seen(one)]))
      for (const [one, what] of expected) observations.set(one, what)
      for (const one of paths) t.strictSame(observations.get(one), expected.get(one), one)
      const found = new Set([...expected.values()].flatMap((what) => (what.kind === 'absent' ? [what.topmost] : [])))
      t.strictSame(
        [...observations.entries()].map(([one]) => one),
        paths.filter((one) => isMissing(one) === undefined),
      )
      const others = ['a', 'b', 'c/a', 'a/c', 'ab/a/c'].filter((one) => !expected.has(one))
      for (const one of others) {
        const isBelow = [...found].some((folder) => one.startsWith(`${folder}/`))
        t.equal(observations.get(one)?.kind, isBelow ? 'absent' : undefined, one)
      }
    }),
    { numRuns: 60 },
  )
})

void t.test('a path that is set again has its last observation', async (t) => {
  const observations = createObservations()
  const [file, absent] = [
    { kind: 'folder', files: [] },
    { kind: 'absent', topmost: 'a' },
  ] as const
  observations.set('a/b', file)
  observations.set('a/b', absent)
  t.strictSame([observations.get('a/b'), [...observations.entries()]], [absent, []])
  observations.set('a/c', { kind: 'absent', topmost: 'a/c' })
  t.strictSame(observations.get('a/c'), { kind: 'absent', topmost: 'a/c' })
  observations.set('x/y', { kind: 'absent', topmost: 'x' })
  t.strictSame([observations.get('a/d'), observations.get('x/d')], [absent, { kind: 'absent', topmost: 'x' }])
})
