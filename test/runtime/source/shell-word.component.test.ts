/**
 * Words that a real shell reads.
 */
import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import t from 'tap'
import { shellWord } from '../../../runtime/source/git/shell-word.ts'

void t.test('a shell takes each quoted word as it was', (t) => {
  const text = fc.string({ unit: fc.constantFrom(...Array.from('\'"\\$`!*;&|<>() \n~#äa-=')) })
  fc.assert(
    fc.property(fc.array(text, { minLength: 20, maxLength: 200 }), (words) => {
      const line = `printf '%s\\0' ${words.map(shellWord).join(' ')}`
      t.same(execFileSync('sh', ['-c', line], { encoding: 'utf8' }).split('\0').slice(0, -1), words)
    }),
    { numRuns: 20 },
  )
  t.end()
})
