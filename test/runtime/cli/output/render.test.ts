import t from 'tap'
import { isFailure, renderEvent, renderPassing, type RunStyle } from '../../../../runtime/cli/output/render.ts'
import { Temporal } from '../../../../runtime/platform/temporal.ts'
import { containsText } from '../../../support/assertions.ts'
import type { RunEvent } from '../../../../runtime/cli/output/narrate.ts'

const [first, second] = ['a'.repeat(40), 'b'.repeat(40)]
const at = Temporal.Instant.from('2026-01-01T09:05:07.5Z')
const plain: RunStyle = { width: 120, color: false, symbols: false, timeZone: undefined, verbose: false }
const terminal: RunStyle = { width: 100, color: false, symbols: true, timeZone: 'UTC', verbose: false }
const stays = { commit: first, ref: 'main' }
const summary = { subject: 'Add line 3', author: 'Jane Doe' }
const finding = (rule: string, severity: 'error' | 'warning' = 'error') => ({
  rule,
  severity,
  path: `core/${rule}`,
  line: 3,
  message: 'is wrong',
})

/** One run from start to end, with every kind of event. */
const events: RunEvent[] = [
  { event: 'following', repo: '/srv/git/plant.git', ref: 'main', targets: ['line-1', 'line-2'] },
  { event: 'listening', url: 'http://localhost:9444/webhook/default/plant', open: false },
  { event: 'published', ...stays, summary, durationMs: 412 },
  {
    event: 'target',
    target: 'line-1',
    phase: 'Synced',
    commit: first,
    files: { added: 24, changed: 0, removed: 1, unchanged: 3 },
    paths: { added: ['projects/a'], changed: [], removed: ['projects/b'], more: 23 },
    read: ['projects', 'config'],
    durationMs: 38,
  },
  { event: 'remark', target: 'line-1', message: 'projects/a: is a pointer (lfs-pointer)' },
  { event: 'ready', message: '2 of 2 gateways run the published commit' },
  {
    event: 'commitRefused',
    commit: second,
    ref: 'main',
    summary: { subject: 'Break dev', author: 'Joe' },
    reason: 'CollectionsInvalid',
    message: '7 errors',
    stays,
    findings: [...['a', 'b', 'c', 'd', 'e', 'f'].map((rule) => finding(rule)), finding('g', 'warning')],
    moreFindings: 2,
  },
  { event: 'pushPending', ref: 'typo', reason: 'RefNotFound', message: 'the git host has no branch or tag "typo"', stays },
  { event: 'pushRefused', ref: 'typo', reason: 'RefNotFound', message: 'the git host has no branch or tag "typo"', stays },
  { event: 'pushRefused', ref: 'main', reason: 'CollectionsInvalid', message: '2 errors, first: a: is wrong', stays },
  { event: 'pushRefused', ref: 'typo', waited: true, reason: 'RefNotFound', message: 'the git host has no branch or tag "typo"', stays },
  { event: 'pushHandled', ref: 'v2', commit: first },
  { event: 'pushSuperseded', ref: 'v2' },
  { event: 'notReady', reason: 'GitConnectionRefused', message: 'git.example:443 refuses connections', stays: null },
  {
    event: 'target',
    target: 'line-2',
    phase: 'Pending',
    commit: first,
    read: [],
    reason: 'GatewayUnreachable',
    message: 'the files are in place; the gateway is unreachable and has not read them yet',
  },
]

void t.test('a pipe gets one plain line per event, with the time in UTC', async (t) => {
  const lines = events.flatMap((event) => renderEvent(event, at, plain))
  t.strictSame(lines, [
    '2026-01-01T09:05:07Z following main of /srv/git/plant.git for line-1, line-2',
    '2026-01-01T09:05:07Z webhook receiver: POST http://localhost:9444/webhook/default/plant',
    '2026-01-01T09:05:07Z published aaaaaaaa of main "Add line 3" by Jane Doe, fetched and checked in 0.4 s',
    '2026-01-01T09:05:07Z line-1: Synced aaaaaaaa in 38 ms, 24 added, 1 removed, 3 unchanged, gateway read projects and config',
    '2026-01-01T09:05:07Z line-1: projects/a: is a pointer (lfs-pointer)',
    '2026-01-01T09:05:07Z ready: 2 of 2 gateways run the published commit',
    '2026-01-01T09:05:07Z not ready: commit bbbbbbbb of main "Break dev" by Joe is refused: 6 errors and 1 warning and 2 more (CollectionsInvalid); the previous commit aaaaaaaa of main stays published',
    ...['a', 'b', 'c', 'd', 'e'].map((rule) => `                         core/${rule}:3: error: is wrong (${rule})`),
    '                         and 4 more: cluster-sync lint shows all',
    '                     next: Run `cluster-sync lint` in the repository, fix what it reports, and push.',
    '2026-01-01T09:05:07Z the push to typo is pending: the git host has no branch or tag "typo" (RefNotFound); the previous commit aaaaaaaa of main stays published',
    '                     next: Compare the name with `git ls-remote <repository>`, and correct spec.git.ref or push the branch or tag.',
    '2026-01-01T09:05:07Z the push to typo is refused: the git host has no branch or tag "typo" (RefNotFound); the previous commit aaaaaaaa of main stays published',
    '                     next: Compare the name with `git ls-remote <repository>`, and correct spec.git.ref or push the branch or tag.',
    '2026-01-01T09:05:07Z the push to main is refused (CollectionsInvalid); the previous commit aaaaaaaa of main stays published',
    '2026-01-01T09:05:07Z the push to typo is no longer pending and is refused: the git host has no branch or tag "typo" (RefNotFound); the previous commit aaaaaaaa of main stays published',
    '                     next: Compare the name with `git ls-remote <repository>`, and correct spec.git.ref or push the branch or tag.',
    '2026-01-01T09:05:07Z the push to v2 is no longer pending: the git host has commit aaaaaaaa for it',
    '2026-01-01T09:05:07Z the push to v2 is no longer pending: a later push replaces it',
    '2026-01-01T09:05:07Z not ready: git.example:443 refuses connections (GitConnectionRefused); nothing is published yet',
    '                     next: Check the address and port in spec.git.repo, and whether a firewall or proxy blocks the connection.',
    '2026-01-01T09:05:07Z line-2: Pending aaaaaaaa, the files are in place; the gateway is unreachable and has not read them yet (GatewayUnreachable)',
    '                     next: Start the gateway, or correct its address. The gateway reads the files as soon as it answers.',
  ])
})

void t.test('a terminal gets the local time, symbols, and lines that fit its width', async (t) => {
  const lines = events.flatMap((event) => renderEvent(event, at, terminal))
  t.strictSame(
    lines.filter((line) => line.length > terminal.width),
    [],
  )
  t.strictSame(lines.slice(2, 5), [
    '09:05:07 ✓ published aaaaaaaa of main "Add line 3" by Jane Doe, fetched and checked in 0.4 s',
    '09:05:07 ✓ line-1: Synced aaaaaaaa in 38 ms, 24 added, 1 removed, 3 unchanged, gateway read projects',
    '           and config',
  ])
  t.ok(lines.join(' ').includes('→ Start the gateway, or correct its address. The gateway reads the files as soon as'))
})

void t.test('-v names the files', async (t) => {
  const [, , , target] = events
  t.strictSame(target === undefined ? [] : renderEvent(target, at, { ...terminal, verbose: true }).slice(2), [
    '               + projects/a',
    '               - projects/b',
    '               and 23 more',
  ])
})

void t.test('color changes no text', async (t) => {
  const colored = events.flatMap((event) => renderEvent(event, at, { ...terminal, color: true }))
  // oxlint-disable-next-line no-control-regex -- the codes of colors begin with one
  const bare = colored.map((line) => line.replace(/\u001b\[\d+m/g, ''))
  t.strictSame(
    bare,
    events.flatMap((event) => renderEvent(event, at, terminal)),
  )
  containsText(t, colored[2], '\u001b[32m')
  t.ok(colored.some((line) => line.includes('\u001b[31m')))
})

void t.test('a transient line fits the width of the terminal', async (t) => {
  t.equal(
    renderPassing({ event: 'unchanged', ref: 'main', commit: first }, at, terminal),
    '09:05:07   checked main: nothing new since aaaaaaaa',
  )
  t.equal(
    renderPassing({ event: 'progress', target: 'line-1', done: 7, total: 20_000 }, at, terminal),
    '09:05:07   line-1: 7 of 20000 files',
  )
  const long = renderPassing({ event: 'unchanged', ref: 'x'.repeat(200), commit: first }, at, terminal)
  t.equal(long?.length, 99)
  t.equal(renderPassing({ event: 'ready', message: '' }, at, terminal), undefined)
})

void t.test('control characters in text from outside are replaced', async (t) => {
  const lines = renderEvent({ event: 'note', message: 'a \u001b[31mred\u0007 line\nof two' }, at, plain)
  t.strictSame(lines, ['2026-01-01T09:05:07Z a \uFFFD[31mred\uFFFD line of two'])
})

void t.test('a single run fails on events that keep it from being synced, and not on transient ones', async (t) => {
  const target = (phase: 'Pending' | 'Drifted' | 'Synced', reason: string): RunEvent => ({
    event: 'target',
    target: 'a',
    phase,
    read: [],
    reason,
  })
  const rows: [RunEvent, boolean][] = [
    [target('Synced', ''), false],
    [target('Pending', 'GatewayNotReady'), false],
    [target('Pending', 'GatewayUnreachable'), true],
    [target('Drifted', 'Drifted'), true],
    [{ event: 'remark', target: 'a', message: 'm' }, false],
    [{ event: 'gaveUp', reason: 'Timeout', message: 'm' }, true],
  ]
  for (const [event, expected] of rows) t.equal(isFailure(event), expected, JSON.stringify(event))
})
