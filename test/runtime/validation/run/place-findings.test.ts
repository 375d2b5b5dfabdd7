import t from 'tap'
import { placeFindings, placeOf } from '../../../../runtime/validation/run/place-findings.ts'
import { listingOf } from '../../../../runtime/validation/model/listing.ts'
import type { CheckFinding } from '../../../../runtime/validation/rules/findings.ts'
import { matchObject } from '../../../support/assertions.ts'

const text = '{\n  "title": "Dev",\n  "enabeld": true,\n  "parent": "cor"\n}\n'

void t.test('a message maps to the line that it mentions, or to none', async (t) => {
  const rows: [string, string, object | undefined][] = [
    ['a line and a column', 'is not JSON: Expected … (line 2 column 3)', { line: 2, column: 3, text: '  "title": "Dev",' }],
    ['a position', 'Unexpected token at position 2', { line: 2, column: 1 }],
    ['a key', 'has the unknown key "enabeld"', { line: 3, column: 3, text: '  "enabeld": true,' }],
    ['a value', 'the parent "cor" does not exist', { line: 4, column: 13 }],
    ['a line alone', 'is not valid JSON: there is an invalid value on line 3, so …', { line: 3, column: 1, text: '  "enabeld": true,' }],
    ['the end of a line', 'a comma is missing at the end of line 2, so …', { line: 2, column: 1 }],
    ['a name that is not in the file', 'lists "nowhere"', undefined],
    ['a line beyond the end', 'x (line 99 column 1)', undefined],
    ['nothing to look for', 'is empty', undefined],
  ]
  for (const [name, message, expected] of rows) matchObject(t, placeOf(text, message), expected, name)
  t.equal(placeOf('"a" "a"', 'has the key "a" twice'), undefined, 'one of two is a guess')
  t.equal(placeOf('\u001b[31m"a"', 'has "a"')?.text, '[31m"a"', 'nothing that paints')
})

void t.test('folders, missing files and large files have no line', async (t) => {
  const files = { 'a.json': text, 'large.json': `"enabeld"${' '.repeat(300_000)}` }
  const finding = (path: string): CheckFinding => ({ rule: 'orphan-file', severity: 'error', path, message: 'has "enabeld"', help: '' })
  const findings = ['a.json', 'large.json', 'folder'].map(finding)
  const find = (path: string) => (Object.hasOwn(files, path) ? { path } : undefined)
  const placed = await placeFindings(listingOf(files), find, findings, AbortSignal.timeout(60_000))
  t.strictSame(
    placed.map(({ place }) => place?.line),
    [3, undefined, undefined],
  )
})
