import t from 'tap'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { applySettings } from '../../../../runtime/sync/render/patch.ts'

function applied(text: string, settings: Readonly<Record<string, string>>): string {
  try {
    const list = Object.entries(settings).map(([path, value]) => ({ path, value }))
    const result = applySettings(text, list, 'test')
    return result.unmatched.length === 0 ? result.text : `unmatched: ${result.unmatched.join(', ')}`
  } catch (error) {
    return error instanceof Fault ? error.reason : String(error)
  }
}

void t.test(
  'ten thousand values in a large file are set in time, and a document beyond the limits is refused',
  { timeout: 600_000 },
  async (t) => {
    const tags = Array.from({ length: 10_000 }, (_, index) => ({ name: `tag ${index}`, opcServer: 'old', note: 'x'.repeat(300) }))
    const text = JSON.stringify({ tags }, undefined, 1)
    const startMs = performance.now()
    t.equal(applied(text, { '$.tags[*].opcServer': 'new' }), text.replaceAll('"opcServer": "old"', '"opcServer": "new"'))
    t.ok(performance.now() - startMs < 30_000, `${Math.round(performance.now() - startMs)} ms`)
    t.equal(applied(`{"a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`, { a: '[]' }), '{"a":[]}')
    t.equal(applied(`{"a":[${'{"a":1},'.repeat(100_000)}1]}`, { a: '[]' }), 'TemplateFailed', 'more values than memory is for')
    t.equal(applied(`{"a":${'['.repeat(1_000)}1${']'.repeat(1_000)}}`, { '$..b': '1' }), 'TemplateFailed', 'as deep as `..` goes')
  },
)
