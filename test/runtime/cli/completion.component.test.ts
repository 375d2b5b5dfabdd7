/**
 * The scripts of `cluster-sync completion`: bash's in bash itself, the others by what they name.
 */
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../../support/repository.ts'
import { runCli } from '../../support/run-cli.ts'

/** What bash would offer at the end of each of some lines. */
async function offered(folder: string, lines: readonly (readonly string[])[]): Promise<string[]> {
  const script = path.join(folder, 'completion.bash')
  writeFileSync(script, (await runCli(['completion', 'bash'])).stdout)
  const ask = 'COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cluster_sync; echo "${COMPREPLY[*]}"'
  return lines.map((words) =>
    execFileSync('bash', ['--norc', '-uc', `source "$0"; ${ask}`, script, 'cluster-sync', ...words], { encoding: 'utf8' }).trim(),
  )
}

void t.test('bash offers commands, options and what may stand behind an option', async (t) => {
  const rows: [string[], string][] = [
    [['li'], 'lint'],
    [['mode', ''], 'new diff'],
    [['mode', 'new', '--r'], '--root'],
    [['lint', '--format', ''], 'text json sarif github gitlab'],
    [['lint', '--format', 's'], 'sarif'],
    [['completion', ''], 'bash zsh fish'],
    [['lint', '--fix', '--fa'], '--fail-on'],
    // Nothing of ours: bash offers files.
    [['run', '--file', ''], ''],
    [['lint', ''], ''],
  ]
  const seen = await offered(
    temporaryFolder(t, 'completion'),
    rows.map(([words]) => words),
  )
  for (const [index, [words, expected]] of rows.entries()) t.equal(seen[index], expected, words.join(' '))
})

void t.test('each shell knows every command that help lists', async (t) => {
  const { stdout: help } = await runCli(['--help'])
  const commands = [...help.matchAll(/^ {2}([a-z]+)(?: |$)/gm)].map(([, name = '']) => name)
  t.ok(commands.includes('run') && commands.length > 15, help)
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout, code } = await runCli(['completion', shell])
    t.equal(code, 0)
    for (const name of commands) t.match(stdout, new RegExp(`[/' ]${name}\\b`), `${shell}: ${name}`)
    t.match(stdout, /fail-on/, `${shell}: options`)
  }
})

void t.test('a shell without a script is refused with those that have one', async (t) => {
  const { code, stderr } = await runCli(['completion', 'tcsh'])
  t.equal(code, 2)
  t.match(stderr, /Allowed choices are bash, zsh, fish/)
})
