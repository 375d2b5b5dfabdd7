/**
 * Quoting of arguments for a real shell.
 */
import { execFileSync } from 'node:child_process'
import fc from 'fast-check'
import t from 'tap'
import { shellWord } from '../../../../runtime/git/command/shell-word.ts'

void t.test('a shell reads each quoted argument unchanged', (t) => {
  const text = fc.string({ unit: fc.constantFrom(...Array.from('\'"\\$`!*;&|<>() \n~#äa-=')) })
  fc.assert(
    fc.property(fc.array(text, { minLength: 20, maxLength: 200 }), (words) => {
      const line = `printf '%s\\0' ${words.map(shellWord).join(' ')}`
      t.strictSame(execFileSync('sh', ['-c', line], { encoding: 'utf8' }).split('\0').slice(0, -1), words)
    }),
    { numRuns: 20 },
  )
  t.end()
})
