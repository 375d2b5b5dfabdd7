/**
 * Names and messages of others that the CLI prints: they move no cursor, set no title and reverse no text.
 */
import { spawnSync } from 'node:child_process'
import t from 'tap'
import { type Output, print } from '../../runtime/cli/fleet/output.ts'
import { captureSentence } from '../../runtime/fleet/capture-action.ts'
import { driftText, fleetDrift } from '../../runtime/fleet/drift.ts'
import { heading, painted } from '../../runtime/fleet/terminal.ts'
import { fleetFacts, now, pod, report, syncFacts } from '../support/fleet-facts.ts'

const hostile = 'g\u001b]0;owned\u0007\u001b[2J\u001b[1;1Hall\u009b1m in sync\u202ex\u2066\rz'
const escaped = 'g\\u001b]0;owned\\u0007\\u001b[2J\\u001b[1;1Hall\\u009b1m in sync\\u202ex\\u2066\\u000dz'

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
    import { printFault } from '${runtime}cli/fleet/output.ts'
    import { Fault } from '${runtime}platform/fault.ts'
    printFault(new Fault('Forbidden', ${JSON.stringify(hostile)}))`
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', program], { encoding: 'utf8' })
  t.equal(stderr.split('\n')[0], `cluster-sync: ${escaped} (Forbidden)`)
})
