import t from 'tap'
import type { Owned } from '../../../../runtime/sync/model/manifest.ts'
import {
  differsInModificationOnly,
  isFirstBootRewrite,
  knownVerdict,
  mayHoldModification,
  sameStat,
} from '../../../../runtime/sync/plan/drift.ts'

const stat = { size: 1, mtimeMs: 2, ino: 3, mode: 4 }
const others = (['size', 'mtimeMs', 'ino', 'mode'] as const).map((name) => ({ ...stat, [name]: 9 }))

void t.test('a file with the same size, time, inode and permissions counts as unchanged', async (t) => {
  t.equal(sameStat(stat, { ...stat }), true)
  for (const other of others) t.equal(sameStat(stat, other), false, JSON.stringify(other))
})

void t.test('a file is known to be clean, or as an earlier check found it in this state', async (t) => {
  const owned = { stat, driftVerdict: undefined } as Owned
  t.equal(knownVerdict(owned, { ...stat }), 'clean')
  for (const other of others) {
    t.equal(knownVerdict(owned, other), undefined)
    for (const verdict of ['drift', 'harmless'] as const) {
      t.equal(knownVerdict({ ...owned, driftVerdict: { ...other, verdict, id: null } }, other), verdict)
      t.equal(knownVerdict({ ...owned, driftVerdict: { ...other, verdict, id: null } }, { ...other, mtimeMs: 10 }), undefined)
    }
  }
})

void t.test('the security properties of the active mode are rewritten on the first boot', async (t) => {
  const file = 'config/resources/Dev/ignition/security-properties/config.json'
  t.strictSame(
    ['dev', 'DEV', 'core', '', undefined].map((mode) => isFirstBootRewrite(file, mode)),
    [true, true, false, false, false],
  )
  t.equal(isFirstBootRewrite('config/resources//ignition/security-properties/config.json', ''), false)
  t.equal(isFirstBootRewrite('config/resources/dev/ignition/security-levels/config.json', 'dev'), false)
  t.equal(isFirstBootRewrite(`x/${file}`, 'dev'), false)
})

void t.test('manifests of resources may hold a modification', async (t) => {
  const names = ['resource.json', 'a/resource.json', 'a/unary-resource.json', 'unary-resource.json']
  t.strictSame(names.map(mayHoldModification), [true, true, true, true])
  const rest = ['a/my-resource.json', 'a/resource.json/x', 'resource.jsonx', 'a/resourceXjson', 'xresource.json', 'a/config.json']
  t.strictSame(rest.map(mayHoldModification), [false, false, false, false, false, false])
})

void t.test('manifests differ in their modification only if nothing else differs', async (t) => {
  const rows: [string, string, boolean][] = [
    ['{"attributes":{"lastModification":1}}', '{"attributes":{}}', true],
    ['{"attributes":{"lastModificationSignature":1,"a":2}}', '{"attributes":{"a":2}}', true],
    ['{"attributes":{"lastModificationBy":1}}', '{"attributes":{}}', false],
    ['{"attributes":{"xlastModification":1}}', '{"attributes":{}}', false],
    ['{"b":1,"a":{"d":1,"c":2}}', '{"a":{"c":2,"d":1},"b":1}', true],
    ['{"a":[{"d":1,"c":2}]}', '{"a":[{"c":2,"d":1}]}', true],
    ['{"a":[1,2]}', '{"a":[2,1]}', false],
    ['{"lastModification":1}', '{}', false],
    ['{"x":{"attributes":{"lastModification":1}}}', '{"x":{"attributes":{}}}', false],
    ['[{"attributes":{"lastModification":1}}]', '[{"attributes":{}}]', false],
    ['{"attributes":["lastModification"]}', '{"attributes":[]}', false],
    ['{"attributes":null}', '{"attributes":null}', true],
    ['{"attributes":null}', '{"attributes":{}}', false],
    ['"a"', '"a"', true],
    ['{', '{', false],
    ['{', '{}', false],
  ]
  for (const [one, other, isSame] of rows) t.equal(differsInModificationOnly(one, other), isSame, `${one} ${other}`)
})
