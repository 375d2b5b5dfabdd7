/**
 * The language of the status page follows what the browser asks for.
 */
import t from 'tap'
import { wordsFor } from '../../../runtime/statuspage/words.ts'

void t.test('German where a browser prefers it to English, English in every other case', async (t) => {
  const cases: [string | undefined, string][] = [
    ['de', 'de'],
    ['de-AT,de;q=0.9,en;q=0.8', 'de'],
    ['fr-CH, fr;q=0.9, de;q=0.7, en;q=0.5', 'de'],
    ['en-GB,de;q=0.9', 'en'],
    ['de,en', 'en'],
    ['de;q=0', 'en'],
    ['fr', 'en'],
    [';;;q=x,,', 'en'],
    ['', 'en'],
    [undefined, 'en'],
  ]
  for (const [asked, language] of cases) t.equal(wordsFor(asked).language, language, asked ?? 'nothing')
})

void t.test('both languages have a word for everything', async (t) => {
  const [english, german] = [wordsFor('en'), wordsFor('de')]
  t.same(Object.keys(german).toSorted(), Object.keys(english).toSorted())
  for (const [name, word] of Object.entries(german)) t.not(word, '', name)
})
