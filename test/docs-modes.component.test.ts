/**
 * docs/how-to/modes.md, command after command in a copy of the example, with the output that it shows.
 */
import { cpSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { blocksOf } from './support/page.ts'
import { temporaryFolder } from './support/repository.ts'
import { runCli } from './support/run-cli.ts'

void t.test('every command of the page succeeds with the output on the page', { timeout: 600_000 }, async (t) => {
  const cwd = path.join(temporaryFolder(t, 'modes'), 'plant')
  cpSync(path.resolve(import.meta.dirname, '../examples/plant'), cwd, { recursive: true })
  let printed = ''
  let commands = 0
  for (const { language, text } of blocksOf('docs/how-to/modes.md')) {
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

void t.test('the first setting that the page names for the mode of a gateway is DEPLOYMENT_MODE', async (t) => {
  const page = readFileSync(path.resolve(import.meta.dirname, '../docs/how-to/modes.md'), 'utf8')
  const [, section = ''] = page.split('## Set the mode of a gateway\n')
  t.equal(/`([^`]+)`/.exec(section)?.[1], 'DEPLOYMENT_MODE')
})
