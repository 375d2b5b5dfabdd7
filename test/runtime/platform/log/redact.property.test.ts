/**
 * Tests that no part of URL credentials survives redaction, wherever the text is cut, and that the result stays within its limit.
 */
import fc from 'fast-check'
import t from 'tap'
import { redactUrls } from '../../../../runtime/platform/log/redact.ts'

const rows = [
  ['https://user:secret@git.example.com/a.git', 'https://***@git.example.com/a.git'],
  ['https://token@git.example.com', 'https://***@git.example.com'],
  ['a ssh://git@h/x and https://u:p@h, or HTTP://u:p@h', 'a ssh://***@h/x and https://***@h, or HTTP://***@h'],
  ['https://user:p@ss@host/x', 'https://***@host/x'],
  ['https://user:not/encoded?@host/x', 'https://***@host/x'],
  ['https://host/scope/@name', 'https://host/scope/@name'],
  ['https://host:8443/scope/@name', 'https://host:8443/scope/@name'],
  ['http://[fe80::1]:80/@name', 'http://[fe80::1]:80/@name'],
  ['https://host and user@host', 'https://host and user@host'],
  ['https://@host', 'https://@host'],
  ['no url', 'no url'],
] as const

for (const [given, told] of rows) {
  void t.test(`${given} is told as ${told}`, async (t) => {
    t.equal(redactUrls(given), told)
    t.equal(redactUrls(told), told, 'once more changes nothing')
  })
}

void t.test('URL credentials that are cut off are not shown', async (t) => {
  t.equal(redactUrls('see https://user:secret@host/x', 16), 'see https://***…')
  t.equal(redactUrls('see https://user:secret@host/x', 26), 'see https://***…')
  t.equal(redactUrls('see https://host/x and more', 19), 'see https://host/x …')
})

/** These characters occur only in secrets, so that a surviving one is detected. */
const secret = fc.string({ unit: fc.constantFrom('§', '¶', ':', '@', '%', '.', '-', '!', '+'), minLength: 1, maxLength: 40 })
const around = fc.string({ unit: fc.constantFrom('a', ':', '/', ' ', '.', '?', '#', '@', "'", '\n', '://'), maxLength: 60 })
const scheme = fc.constantFrom('https', 'ssh', 'git+ssh', 'HTTP', 'x')

void t.test('no part of URL credentials survives redaction', async () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(around, scheme, secret)), around, fc.integer({ min: 0, max: 400 }), (urls, end, max) => {
      const text = `${urls.map(([before, name, user]) => `${before} ${name}://${user}@host/path `).join('')}${end}`
      for (const told of [redactUrls(text), redactUrls(text, max)]) if (/[§¶]/.test(told)) throw new Error(JSON.stringify(told))
    }),
    { numRuns: 2_000 },
  )
})

void t.test('redacted text exceeds its limit by at most two characters per URL', async () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', '://', '@', ':', '/', ' '), maxLength: 300 }), fc.nat(200), (text, max) => {
      const told = redactUrls(text, max)
      const urls = text.split('://').length
      if (told.length > Math.min(text.length, max) + 2 * urls + 1) throw new Error(`${told.length} of ${max}`)
    }),
    { numRuns: 2_000 },
  )
})
