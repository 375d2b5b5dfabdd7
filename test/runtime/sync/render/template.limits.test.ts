import t from 'tap'
import { Fault } from '../../../../runtime/platform/fault.ts'
import type { TemplateContext } from '../../../../runtime/sync/render/context.ts'
import { createTemplateEngine } from '../../../../runtime/sync/render/template.ts'

const context: TemplateContext = {
  gateway: { name: 'gw' },
  pod: { name: 'gw-0', ordinal: 0, labels: {} },
  namespace: 'plant',
  ref: 'main',
  commit: 'c'.repeat(40),
  vars: { host: 'h' },
}

/** Returns the rendered text, or the reason of the failure. */
function render(text: string): string {
  try {
    return createTemplateEngine().parse(text, 'test').render(context)
  } catch (error) {
    if (error instanceof Fault && error.reason === 'TemplateFailed') return 'TemplateFailed'
    throw error
  }
}

/** In processor time, so that other work on the machine does not count. */
const maxMicroseconds = 30_000_000

void t.test('a template that would exhaust time or memory ends in time with its reason', { timeout: 600_000 }, async (t) => {
  const rows: [string, string][] = [
    ['a range without an end', '{% for i in (1..100000000) %}x{% endfor %}'],
    ['loops in loops', '{% for i in (1..1000) %}{% for j in (1..1000) %}{% for k in (1..1000) %}{% endfor %}{% endfor %}{% endfor %}'],
    ['a string that doubles', `{% assign a = "xxxxxxxx" %}${'{% assign a = a | append: a %}'.repeat(40)}{{ a }}`],
    ['a replacement that grows', `{% assign a = "xxxxxxxx" %}${'{% assign a = a | replace: "x", "xxxxxxxx" %}'.repeat(20)}{{ a }}`],
    ['a capture that grows', `{% assign a = "xxxxxxxx" %}${'{% capture a %}{{ a }}{{ a }}{% endcapture %}'.repeat(40)}`],
    ['an output that grows', `{% assign a = "${'x'.repeat(1000)}" %}{% for i in (1..1000000) %}{{ a }}{% endfor %}`],
    ['padding of a date', '{{ "2026-01-01" | date: "%999999999d" }}'],
    ['padding of a date, as digits', '{{ "2026-01-01" | date: "%0999999999Y" }}'],
    ['arrays that grow', `{% assign a = "x,y,z" | split: "," %}${'{% assign a = a | concat: a %}'.repeat(40)}{{ a.size }}`],
    ['a join of many', `{% assign a = (1..1000000) | join: "${'x'.repeat(1000)}" %}`],
    ['deep nesting', `${'{% if true %}'.repeat(100_000)}${'{% endif %}'.repeat(100_000)}`],
    ['a long expression', `{{ ${'vars.host | append: '.repeat(20_000)} "x" }}`],
    ['many long expressions', `{{ ${'vars.host | append: '.repeat(800)} "x" }}`.repeat(500)],
    ['many small tags', '{{ vars.host }}'.repeat(500_000)],
    ['many beginnings without an end', '{{ '.repeat(2_000_000)],
    ['many raw tags', `{% raw %}${'{{ x }}'.repeat(500_000)}{% endraw %}`],
    ['many columns', '{% tablerow i in (1..100000000) cols: 2 %}{% endtablerow %}'],
  ]
  for (const [name, text] of rows) {
    const before = process.cpuUsage()
    const made = render(text)
    t.ok(made === 'TemplateFailed' || made.length < 8 * 1024 * 1024, `${name}: ${made.slice(0, 20)}`)
    const { user, system } = process.cpuUsage(before)
    t.ok(user + system < maxMicroseconds, `${name} took ${Math.round((user + system) / 1000)} ms of a processor`)
  }
  const heap = process.memoryUsage().rss / 1024 / 1024
  t.ok(heap < 1_500, `${Math.round(heap)} MiB`)
})
