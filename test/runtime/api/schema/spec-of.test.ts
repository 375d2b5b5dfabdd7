import t from 'tap'
import { parseSpec, specOf } from '../../../../runtime/api/schema/spec-of.ts'
import { matchObject } from '../../../support/assertions.ts'

const record = (repo: unknown) => ({
  spec: { git: { repo, ref: 'main' }, sync: { profiles: { default: { mappings: [{ source: 'a', destination: 'b' }] } } } },
})

void t.test('a record is parsed once for reconciles and endpoints alike', async (t) => {
  const known = record('https://git.example.com/plant.git')
  const spec = specOf(known)
  t.equal(spec?.polling.interval, '60s', 'with its defaults')
  t.equal(specOf(known), spec)
  for (const allowLocal of [false, true]) {
    const parsed = parseSpec(known, { allowLocal })
    t.equal('spec' in parsed ? parsed.spec : undefined, spec)
  }
})

void t.test('a local path is accepted only with allowLocal, in any order of calls', async (t) => {
  const known = record('/srv/plant.git')
  for (const allowLocal of [true, false, true, false]) t.equal('spec' in parseSpec(known, { allowLocal }), allowLocal)
  matchObject(t, parseSpec(known, { allowLocal: false }), { issues: [{ message: /must be an https, http or ssh URL/ }] })
})

void t.test('an invalid spec returns its issues each time', async (t) => {
  const known = record(5)
  t.equal(specOf(known), undefined)
  for (const allowLocal of [true, false, true]) matchObject(t, parseSpec(known, { allowLocal }), { issues: [{ expected: 'string' }] })
})
