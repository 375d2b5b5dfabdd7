/**
 * docs/tutorial.md from `git clone` to the way back, played as it is written: two shells on pseudo terminals, real git, the simulator as
 * gateway. With CLUSTER_SYNC_WRITE_DOCS=1 the page's outputs, and with CLUSTER_SYNC_WRITE_PICTURES=1 its pictures, are those of this run.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { pictured } from './support/docs-picture.ts'
import { freePort } from './support/ports.ts'
import { requires } from './support/requires.ts'
import { ofAnyRun, shown } from './support/shown-output.ts'
import { openTerminal } from './support/terminal.ts'
import { linesOfScreen, type ScreenLine, textOfLines } from './support/terminal-screen.ts'
import { until } from './support/world.ts'

const root = path.resolve(import.meta.dirname, '..')
const columns = 110
/** What stands on the page and in the pictures for the folder of this run; as long, so that lines are folded at the same places. */
const shownHome = '/home/plant'
/** Commands that are carried out in another way, and why. */
const otherwise: ReadonlyMap<string, string> = new Map([
  ['npm --prefix program ci', 'the packages of this checkout serve: the gate installs the same ones from nothing at its start'],
])

/** The port of the page's gateway; a free one stands for it. */
const pagePort = '8088'

type Name = 'first' | 'second'
/** What is typed into a terminal, whose last command ends with `exits`; or what the terminal then shows. */
type Step = { name: Name; commands: string[]; exits: number } | { name: Name; shows: string; text: string }

/** The blocks of the page in their order, with what the comments before them say. */
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

void t.test('whoever types what the page says ends where it says', { timeout: 200_000 }, async (t) => {
  if (!requires(t, 'git', 'script', 'bash')) return
  const folder = mkdtempSync('/tmp/')
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  const home = makeHome(folder)
  const port = String(await freePort())
  const terminals = {
    first: await openTerminal(t, { folder, home, columns }),
    second: await openTerminal(t, { folder, home, columns }),
  }
  /** How many lines of each terminal came before what the page shows next. */
  const from = { first: 0, second: 0 }
  const linesOf = (name: Name): ScreenLine[] => linesOfScreen(terminals[name].received)
  // The shell's own words about a job in the background are left out, so is the prompt that this job writes behind, and the sign of Ctrl-C,
  // which may stand on a line that is written over.
  const asShown = (text: string): string =>
    text
      .replaceAll(folder, shownHome)
      .replaceAll(port, pagePort)
      .replaceAll(/^\[\d\] \d+\n|^\$ (?=http)|\^C/gm, '')
  const checks: ScreenLine[] = []
  let runFrom = 0

  for (const step of stepsOf(readFileSync(path.join(root, 'docs/tutorial.md'), 'utf8'))) {
    const { name } = step
    if ('shows' in step) {
      const last = ofAnyRun(step.text.trimEnd().split('\n').at(-1) ?? '').trim()
      const output = (): string => asShown(textOfLines(linesOf(name).slice(from[name])))
      const isThere = (): boolean => name === 'first' || ofAnyRun(output()).includes(last)
      await until(() => (isThere() ? true : undefined), `the second terminal shows ${last}`)
      shown(t, 'tutorial.md', step.shows, output())
      if (name === 'first') checks.push(...linesOf(name).slice(from[name] - 1))
      // The job in the background wrote behind the prompt.
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
      const wanted = isLast ? step.exits : 0
      t.equal(code ?? 0, wanted, (code ?? 0) === wanted ? command : textOfLines(linesOf(name)))
    }
  }
  t.notOk(existsSync(path.join(folder, 'plant-tutorial')), 'nothing is left')
  const drawn = (lines: readonly ScreenLine[]): ScreenLine[] =>
    lines.map((line) => ({ ...line, pieces: line.pieces.map((piece) => ({ ...piece, text: asShown(piece.text) })) }))
  const run = drawn(linesOf('second').slice(runFrom, from.second))
  pictured(t, 'tutorial-run', run, { title: 'cluster-sync run', columns })
  pictured(t, 'tutorial-checks', drawn(checks), { title: 'cluster-sync plan, cluster-sync lint', columns })
})

/** A home with who commits, and the address of the page leading to a repository with the files of this checkout. */
function makeHome(folder: string): string {
  const home = path.join(folder, 'home')
  const host = path.join(folder, 'host')
  mkdirSync(home)
  const config = [
    '[user]\n name = Jane Doe\n email = jane@example.com',
    '[init]\n defaultBranch = main',
    `[url "${host}/"]\n insteadOf = https://github.com/OWNER/`,
    `[safe]\n directory = *`,
  ]
  writeFileSync(path.join(home, '.gitconfig'), `${config.join('\n')}\n`)
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: root, encoding: 'utf8', env: { ...process.env, HOME: home } })
  const repository = path.join(host, 'cluster-sync-operator.git')
  git('init', '--quiet', '--bare', '--initial-branch=main', repository)
  git('-C', repository, 'config', 'receive.shallowUpdate', 'true')
  // What is changed here counts too, before it is committed.
  const commit = git('stash', 'create').trim() || 'HEAD'
  git('push', '--quiet', repository, `${commit}:refs/heads/main`)
  return home
}
