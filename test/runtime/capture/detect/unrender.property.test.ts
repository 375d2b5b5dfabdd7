/**
 * A change of a rendered file maps back to its source only if it is outside the text that the template rendered.
 */
import fc from 'fast-check'
import t from 'tap'
import { unrender } from '../../../../runtime/capture/detect/unrender.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'

/** A minimal template language: `{…}` renders to upper case, and an unclosed brace is an error. */
function make(source: Uint8Array): Uint8Array {
  const text = Buffer.from(source).toString('utf8')
  if (/\{[^}\n]*$/m.test(text)) throw new Fault('TemplateFailed', 'an open brace')
  return Buffer.from(text.replace(/\{([^}\n]*)\}/g, (_, word: string) => word.toUpperCase()))
}

const plain = fc.stringMatching(/^[a-z é]{0,8}$/)
const made = plain.map((word) => `key: {${word}x}`)
const lines = fc.array(fc.oneof(plain, made), { minLength: 1, maxLength: 12 })

function goesBack(source: string, present: string): string | undefined {
  const original = Buffer.from(source)
  const back = unrender(original, make(original), Buffer.from(present), make)
  return back === undefined ? undefined : Buffer.from(back).toString('utf8')
}

void t.test('a source that is mapped back renders to exactly the present file', (t) => {
  fc.assert(
    fc.property(lines, lines, (before, after) => {
      const present = Buffer.from(make(Buffer.from(after.join('\n')))).toString('utf8')
      const back = goesBack(before.join('\n'), present)
      if (back !== undefined) t.equal(Buffer.from(make(Buffer.from(back))).toString('utf8'), present)
    }),
  )
  t.end()
})

void t.test('a changed, added or removed plain line maps back, and rendered lines keep their template', (t) => {
  fc.assert(
    fc.property(lines, fc.nat(), fc.constantFrom('change', 'add', 'remove'), (before, seed, kind) => {
      const at = seed % before.length
      if (kind !== 'add' && (before[at]?.includes('{') === true || before.length === 1)) return
      const after = kind === 'remove' ? before.toSpliced(at, 1) : before.toSpliced(at, kind === 'add' ? 0 : 1, 'by hand')
      const present = Buffer.from(make(Buffer.from(after.join('\n')))).toString('utf8')
      const back = goesBack(before.join('\n'), present)
      const templates = (text: readonly string[]): string[] => text.filter((line) => line.includes('{'))
      t.strictSame(templates(back?.split('\n') ?? []), templates(before))
    }),
  )
  t.end()
})

void t.test('a change in rendered text does not map back', (t) => {
  t.equal(goesBack('a: {word}\nb', 'a: OTHER\nb'), undefined)
  t.equal(goesBack('a: {word}\nb', 'b'), undefined, 'nor that it is gone')
  t.end()
})

void t.test('a line that would be rendered differently does not map back', (t) => {
  t.equal(goesBack('a', 'a {x}'), undefined, 'the source would render it')
  t.equal(goesBack('a', 'a {'), undefined, 'the source would not render at all')
  t.end()
})
