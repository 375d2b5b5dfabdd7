/**
 * docs/modes.md, command after command in a copy of the example, with what it shows of each.
 */
import { cpSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { blocksOf } from './support/page.ts'
import { temporaryFolder } from './support/repository.ts'
import { runCli } from './support/run-cli.ts'

void t.test('every command of the page succeeds, and prints what the page shows', { timeout: 120_000 }, async (t) => {
  const cwd = path.join(temporaryFolder(t, 'modes'), 'plant')
  cpSync(path.resolve(import.meta.dirname, '../examples/plant'), cwd, { recursive: true })
  let printed = ''
  let commands = 0
  for (const { language, text } of blocksOf('docs/modes.md')) {
    if (language === 'text') {
      t.ok(printed.includes(text.trimEnd()), printed)
      continue
    }
    const { code, stdout, stderr } = await runCli(text.trim().split(' ').slice(1), { cwd })
    t.equal(code, 0, stderr)
    printed = stdout
    commands += 1
  }
  t.equal(commands, 4)
})
