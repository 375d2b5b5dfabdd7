/**
 * The language of the status page follows what the browser asks for.
 */
import t from 'tap'
import { reasons } from '../../../runtime/fault.ts'
import { conditionReasons } from '../../../runtime/gatewaysync/decide/conditions.ts'
import { actionWordsIn } from '../../../runtime/statuspage/actions/action-words.ts'
import { detailWordsIn } from '../../../runtime/statuspage/detail-words.ts'
import { loginWordsIn } from '../../../runtime/statuspage/login/login-words.ts'
import { meaningIn } from '../../../runtime/statuspage/reason-words.ts'
import { inGerman, type Language, wordsFor } from '../../../runtime/statuspage/words.ts'

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

/** Every text of a table with its key, those that functions make from a sample among them. */
function textsOf(table: object, at = ''): [string, string][] {
  return Object.entries(table).flatMap(([key, value]): [string, string][] => {
    const name = at === '' ? key : `${at}.${key}`
    if (typeof value === 'string') return [[name, value]]
    if (typeof value === 'function') return [[name, String((value as (...sample: unknown[]) => unknown)(...sampleOf(key)))]]
    return textsOf(value as object, name)
  })
}

function sampleOf(key: string): unknown[] {
  if (key === 'summary') return [{ syncs: 2, ready: 1, gateways: 4, inStep: 3 }]
  return ['2', '3']
}

/** The same word in both languages, by its nature. */
const same = new Set(['title', 'commit', 'pod', 'agent', 'gateway', 'repository', 'rollout'])

void t.test('every page, question and login says all of its words in both languages, and in each its own', async (t) => {
  for (const [what, tableIn] of Object.entries({
    wordsIn: (language: Language) => wordsFor(language),
    detailWordsIn,
    actionWordsIn,
    loginWordsIn,
  })) {
    const [english, german] = [textsOf(tableIn('en')), new Map(textsOf(tableIn('de')))]
    t.same(
      [...german.keys()],
      english.map(([key]) => key),
      what,
    )
    for (const [key, text] of english) {
      t.not(german.get(key)?.trim() ?? '', '', `${what} ${key}`)
      if (!same.has(key) && key !== 'language') t.not(german.get(key)?.toLowerCase(), text.toLowerCase(), `${what} ${key}: ${text}`)
    }
  }
})

void t.test('every reason means something in German too', async (t) => {
  for (const reason of [...Object.keys(conditionReasons), ...Object.keys(reasons)]) {
    const [english, german] = [meaningIn('en', reason), meaningIn('de', reason)]
    t.ok(english)
    t.ok(german)
    t.not(german, english, reason)
  }
  t.equal(meaningIn('de', 'NoSuchReason'), undefined)
})

void t.test('ages and intervals are told in German units', async (t) => {
  const cases = { '12s': '12 s', '7m': '7 min', '3h': '3 h', '1d': '1 Tag', '2d': '2 Tagen', '1h30m': '1h30m' }
  for (const [duration, said] of Object.entries(cases)) t.equal(inGerman(duration), said)
})
