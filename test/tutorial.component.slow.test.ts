/**
 * Runs docs/tutorials/one-machine.md from `git clone` to the rollback as written: two shells on pseudo terminals, real git, the simulator
 * as the gateway. With CLUSTER_SYNC_WRITE_DOCS=1 the page's outputs are updated from this run, and with CLUSTER_SYNC_WRITE_PICTURES=1 its
 * pictures.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { homeIn } from '../scripts/home.ts'
import { pictured } from './support/docs-picture.ts'
import { freePort } from './support/ports.ts'
import { requires } from './support/requires.ts'
import { ofAnyRun, shown } from './support/shown-output.ts'
import { openTerminal } from './support/terminal.ts'
import { linesOfScreen, type ScreenLine, textOfLines } from './support/terminal-screen.ts'
import { until } from './support/world.ts'

const root = path.resolve(import.meta.dirname, '..')
const columns = 110
/** Replaces the folder of this run on the page and in the pictures; of the same length, so that lines wrap at the same places. */
const shownHome = '/home/plant'
/** Commands that run differently, with the reason. */
const otherwise: ReadonlyMap<string, string> = new Map([
  ['npm --prefix program ci', 'the packages of this checkout serve: the gate installs the same ones from nothing at its start'],
])

/** The port of the page's gateway, replaced by a free one. */
const pagePort = '8088'

type Name = 'first' | 'second'
/** Input for a terminal, with `exits` as the exit code of its last command; or the output that the terminal then shows. */
type Step = { name: Name; commands: string[]; exits: number } | { name: Name; shows: string; text: string }

/** The blocks of the page in order, with the directives in the comments before them. */
function stepsOf(page: string): Step[] {
  const steps: Step[] = []
  const blocks = /((?:<!-- \w+:\S+ -->\n+)*)```(sh|text)\n([^]*?)```/g
  for (const [, comments = '', language, text = ''] of page.matchAll(blocks)) {
    const said = new Map([...comments.matchAll(/<!-- (\w+):(\S+) -->/g)].map(([, name = '', value = '']) => [name, value]))
    const name = said.get('terminal') === 'second' ? 'second' : 'first'
    if (language === 'sh') steps.push({ name, commands: text.trimEnd().split('\n'), exits: Number(said.get('exits') ?? 0) })
    else steps.push({ name, shows: said.get('shown') ?? '', text })
  }
  return steps
}

void t.test('following the page leads to the results on the page', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'git', 'script', 'bash')) return
  const folder = mkdtempSync('/tmp/')
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const home = makeHome(folder)
  const port = String(await freePort())
  const terminals = {
    first: await openTerminal(t, { folder, home, columns }),
    second: await openTerminal(t, { folder, home, columns }),
  }
  /** The number of lines in each terminal before the next output of the page. */
  const from = { first: 0, second: 0 }
  const linesOf = (name: Name): ScreenLine[] => linesOfScreen(terminals[name].received)
  // Leaves out the shell's messages about a background job, the prompt before the job's output, and the ^C sign, which may be on an
  // overwritten line.
  const asShown = (text: string): string =>
    text
      .replaceAll(folder, shownHome)
      .replaceAll(port, pagePort)
      .replaceAll(/^\[\d\] \d+\n|^\$ (?=http)|\^C/gm, '')
  let runFrom = 0

  for (const step of stepsOf(readFileSync(path.join(root, 'docs/tutorials/one-machine.md'), 'utf8'))) {
    const { name } = step
    if ('shows' in step) {
      const last = ofAnyRun(step.text.trimEnd().split('\n').at(-1) ?? '').trim()
      const output = (): string => asShown(textOfLines(linesOf(name).slice(from[name])))
      const isThere = (): boolean => name === 'first' || ofAnyRun(output()).includes(last)
      await until(() => (isThere() ? true : undefined), `the second terminal shows ${last}`)
      shown(t, 'tutorials/one-machine.md', step.shows, output())
      // The background job wrote after the prompt.
      if (step.shows === 'gateway') await terminals[name].enter('')
      from[name] = linesOf(name).length
      continue
    }
    for (const command of step.commands) {
      const isLast = command === step.commands.at(-1)
      if (command === 'kill %1') t.equal(await terminals[name].interrupt(), 0, 'Ctrl-C ends the run with 0')
      if (command === 'kill %1') from[name] = linesOf(name).length
      if (otherwise.has(command)) {
        symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'plant-tutorial/program/node_modules'))
        t.comment(`not run: ${command} (${otherwise.get(command)})`)
        continue
      }
      if (isLast && (name === 'first' || !step.commands.includes('kill %1'))) from[name] = linesOf(name).length + 1
      const typed = command.replaceAll(pagePort, port)
      if (/ run -f /.test(command)) {
        runFrom = linesOf(name).length
        terminals[name].start(typed)
        continue
      }
      const code = await terminals[name].enter(typed)
      const desired = isLast ? step.exits : 0
      t.equal(code ?? 0, desired, (code ?? 0) === desired ? command : textOfLines(linesOf(name)))
    }
  }
  t.notOk(existsSync(path.join(folder, 'plant-tutorial')), 'nothing is left')
  const drawn = (lines: readonly ScreenLine[]): ScreenLine[] =>
    lines.map((line) => ({ ...line, pieces: line.pieces.map((piece) => ({ ...piece, text: asShown(piece.text) })) }))
  const run = drawn(linesOf('second').slice(runFrom, from.second))
  pictured(t, 'tutorial-run', run, { title: 'cluster-sync run', columns })
})

/** A home with the commit author, and with the address of the page redirected to a repository of this checkout. */
function makeHome(folder: string): string {
  const home = path.join(folder, 'home')
  const host = path.join(folder, 'host')
  mkdirSync(home)
  const config = [
    '[user]\n name = Jane Doe\n email = jane@example.com',
    '[init]\n defaultBranch = main',
    `[url "${host}/cluster-sync-operator"]\n insteadOf = ${homeIn(path.join(root, 'package.json')).url}`,
    `[safe]\n directory = *`,
  ]
  writeFileSync(path.join(home, '.gitconfig'), `${config.join('\n')}\n`)
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8', env: { ...process.env, HOME: home } })
  const repository = path.join(host, 'cluster-sync-operator.git')
  git('init', '--quiet', '--bare', '--initial-branch=main', repository)
  git('-C', repository, 'config', 'receive.shallowUpdate', 'true')
  // Includes uncommitted changes.
  const commit = git('stash', 'create').trim() || 'HEAD'
  git('push', '--quiet', repository, `${commit}:refs/heads/main`)
  return home
}
