/**
 * Names and messages of others that the CLI prints: they move no cursor, set no title and reverse no text.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { type Output, print } from '../../runtime/cli/output/output.ts'
import { captureSentence } from '../../runtime/fleet/capture-action.ts'
import { driftText, fleetDrift } from '../../runtime/fleet/drift.ts'
import { heading, painted } from '../../runtime/fleet/terminal.ts'
import { createRunOutput } from '../../runtime/cli/output/print.ts'
import { systemClock } from '../../runtime/platform/clock.ts'
import { createLog } from '../../runtime/platform/log/log.ts'
import { config, resource, root, validTree } from '../support/collection-tree.ts'
import { codeOf, readModules } from '../support/modules.ts'
import { temporaryFolder } from '../support/repository.ts'
import { fleetFacts, now, pod, report, syncFacts } from '../support/fleet-facts.ts'

const hostile = 'g\u001b]0;owned\u0007\u001b[2J\u001b[1;1Hall\u009b1m in sync\u202ex\u2066\rz'
const escaped = 'g\\u001b]0;owned\\u0007\\u001b[2J\\u001b[1;1Hall\\u009b1m in sync\\u202ex\\u2066\\u000dz'

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const controls = /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/

function printed(lines: readonly string[], color: boolean): string {
  let text = ''
  const output: Output = { style: { width: 300, color, symbols: color }, isTerminal: true, write: (part) => void (text += part) }
  print(output, lines)
  return text
}

void t.test('control characters of others are escaped, and colors of the CLI are kept', async (t) => {
  const style = { width: 300, color: true, symbols: true }
  t.equal(printed([heading('a', style), painted('b', 'error', style)], true), '\u001b[1ma\u001b[0m\n\u001b[31mb\u001b[0m\n')
  t.equal(printed([heading(hostile, style)], true), `\u001b[1m${escaped}\u001b[0m\n`)
  t.equal(printed(['a\u001b[31mb\tc\r\nd'], false), 'a\\u001b[31mb\tc\r\nd\n')
  t.equal(printed([JSON.stringify({ a: hostile })], false).includes('\u202e'), false)
  t.strictSame(JSON.parse(printed([JSON.stringify({ a: hostile }, undefined, 2)], true)), { a: hostile })
})

void t.test('a gateway name and a message of an agent are escaped', async (t) => {
  const drift = { count: 1, paths: ['a'] }
  const facts = fleetFacts({
    syncs: [syncFacts('s')],
    pods: [pod('gw-0', 's')],
    reports: [report('gw-0', 's', { gateway: hostile, phase: 'Drifted', drift })],
  })
  const [first = ''] = printed(driftText(fleetDrift(facts, now), { width: 300, color: false, symbols: false }), false).split('\n')
  t.equal(first.startsWith(`plant-a/gw-0 (${escaped}): 1 file changed`), true, JSON.stringify(first))
  const at = '2026-03-01T11:58:00Z'
  const sentence = captureSentence({ gateway: hostile, state: 'Failed', pod: 'gw-0', request: 'r', message: hostile, at })
  t.equal(printed([sentence], true), `${escaped}: 0 files not pushed: ${escaped}\n`)
})

void t.test('a message of an API server on standard error is escaped', async (t) => {
  const runtime = new URL('../../runtime/', import.meta.url).href
  const program = `
    import { printFault } from '${runtime}cli/output/output.ts'
    import { Fault } from '${runtime}platform/fault.ts'
    printFault(new Fault('Forbidden', ${JSON.stringify(hostile)}))`
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  t.equal(stderr.split('\n')[0], `cluster-sync: ${escaped} (Forbidden)`)
})

void t.test('the name of a resource and of a mode are escaped', async (t) => {
  const folder = temporaryFolder(t, 'terminal')
  const name = `core/ignition/schedule/${hostile}`
  for (const [file, content] of Object.entries({
    ...validTree(),
    ...resource(name, config({ a: 1 })),
    [`${root}/${name}/config.json`]: '{}',
  })) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true })
    writeFileSync(path.join(folder, file), content)
  }
  const program = path.resolve(import.meta.dirname, '../../runtime/cli.ts')
  const run = (...args: string[]) => spawnSync(process.execPath, [program, ...args], { encoding: 'utf8' })
  t.equal(run('sign', folder).stdout, `signed ${root}/core/ignition/schedule/${escaped}/resource.json\n1 signed, 15 already valid\n`)
  t.equal(run('explain', folder, '--mode', hostile).stderr.startsWith(`cluster-sync: the mode "${escaped}" has no folder`), true)
})

void t.test('events of a run are escaped, and its own line control is kept', async (t) => {
  for (const format of ['text', 'json'] as const) {
    let text = ''
    const out = (part: string): void => void (text += part)
    const style = { width: 300, color: true, symbols: false, timeZone: undefined, verbose: true }
    const output = createRunOutput(systemClock, { format, style, isTerminal: true, splits: false, out, err: out })
    output.emit({ event: 'progress', target: hostile, done: 1, total: 1 })
    output.emit({ event: 'gaveUp', reason: 'Timeout', message: hostile })
    output.end()
    const own = ['\r\u001b[2K', '\u001b[2m', '\u001b[1m', '\u001b[31m', '\u001b[0m', '\n']
    const foreign = own.reduce((rest, each) => rest.replaceAll(each, ''), text)
    t.equal(controls.test(foreign), false, format)
    t.equal(text.startsWith('\r\u001b[2K'), format === 'text')
  }
})

void t.test('texts and stacks in log lines are escaped', async (t) => {
  let line = ''
  const log = createLog({ level: 'info', destination: { write: (text) => void (line += text) } })
  log.info({ message: hostile, err: new Error(hostile) }, 'failed')
  const { message, err } = JSON.parse(line) as { message: string; err: { message: string; stack: string } }
  t.strictSame([message, err.message, err.stack.split('\n')[0]], [escaped, escaped, `Error: ${escaped}`])
})

void t.test('commands write only through the functions that escape', async (t) => {
  const writers = readModules(path.resolve(import.meta.dirname, '../..'), 'runtime/cli')
    .filter((module) => /\bstd(?:out|err)\b(?!\.is|\.once)[^\n]*\bwrite\(|\bwriteSync\(|\bconsole\./.test(codeOf(module)))
    .map(({ file }) => file)
  t.strictSame(writers, ['runtime/cli/fleet/status.ts', 'runtime/cli/output/output.ts'])
})
