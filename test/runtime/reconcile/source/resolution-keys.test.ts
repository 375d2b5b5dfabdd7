import t from 'tap'
import { createDigests } from '../../../../runtime/reconcile/source/resolution-keys.ts'

void t.test('a digest is computed once for a spec and its other inputs', async (t) => {
  const digests = createDigests()
  const asked: string[] = []
  const of = (spec: object, besides: string): string =>
    digests.of(spec, besides, () => {
      asked.push(besides)
      return { spec, besides }
    })
  const [one, other] = [{ ref: 'main' }, { ref: 'main' }]
  const first = of(one, 'a')
  t.equal(of(one, 'a'), first)
  t.equal(of(other, 'a'), first, 'equal specs have equal digests')
  t.strictSame(asked, ['a', 'a'])
  t.not(of(one, 'b'), first)
  t.equal(of(one, 'a'), first)
  t.strictSame(asked, ['a', 'a', 'b', 'a'], 'only the last one is remembered')
})

void t.test('the order of members does not change the digest', async (t) => {
  const digests = createDigests()
  t.equal(
    digests.of({}, '', () => ({ a: 1, b: 2 })),
    digests.of({}, '', () => ({ b: 2, a: 1 })),
  )
})
