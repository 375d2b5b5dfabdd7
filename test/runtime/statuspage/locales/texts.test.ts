/**
 * Tests that the language of the status page follows the Accept-Language header.
 */
import t from 'tap'
import { reasons } from '../../../../runtime/platform/fault.ts'
import { conditionReasons } from '../../../../runtime/api/schema/conditions.ts'
import { actionTextsIn, loginTextsIn } from '../../../../runtime/statuspage/locales/action-texts.ts'
import { detailTextsIn } from '../../../../runtime/statuspage/locales/detail-texts.ts'
import { meaningIn } from '../../../../runtime/statuspage/locales/reason-texts.ts'
import { inGerman, type Language, acceptedTexts } from '../../../../runtime/statuspage/locales/texts.ts'

void t.test('the page is German if the browser prefers it to English, and English otherwise', async (t) => {
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
  for (const [asked, language] of cases) t.equal(acceptedTexts(asked).language, language, asked ?? 'nothing')
})

/** Returns every text of a table with its key, including function results for a sample. */
function textsOf(table: object, at = ''): [string, string][] {
  return Object.entries(table).flatMap(([key, value]): [string, string][] => {
    const name = at === '' ? key : `${at}.${key}`
    if (typeof value === 'string') return [[name, value]]
    if (typeof value === 'function') return [[name, String((value as (...sample: unknown[]) => unknown)(...sampleOf(key)))]]
    return textsOf(value as object, name)
  })
}

function sampleOf(key: string): unknown[] {
  if (key === 'summary') return [{ syncs: 2, ready: 1, gateways: 4, upToDate: 3 }]
  return ['2', '3']
}

/** Words that are the same in both languages. */
const same = new Set(['title', 'cluster', 'commit', 'pod', 'agent', 'gateway', 'repository', 'rollout'])

void t.test('every text exists in both languages and differs between them', async (t) => {
  for (const [what, tableIn] of Object.entries({
    wordsIn: (language: Language) => acceptedTexts(language),
    detailTextsIn,
    actionTextsIn,
    loginTextsIn,
  })) {
    const [english, german] = [textsOf(tableIn('en')), new Map(textsOf(tableIn('de')))]
    t.strictSame(
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

void t.test('every reason has a German description', async (t) => {
  for (const reason of [...Object.keys(conditionReasons), ...Object.keys(reasons)]) {
    const [english, german] = [meaningIn('en', reason), meaningIn('de', reason)]
    t.ok(english)
    t.ok(german)
    t.not(german, english, reason)
  }
  t.equal(meaningIn('de', 'NoSuchReason'), undefined)
})

void t.test('ages and intervals have German units', async (t) => {
  const cases = { '12s': '12 s', '7m': '7 min', '3h': '3 h', '1d': '1 Tag', '2d': '2 Tagen', '1h30m': '1h30m' }
  for (const [duration, said] of Object.entries(cases)) t.equal(inGerman(duration), said)
})
