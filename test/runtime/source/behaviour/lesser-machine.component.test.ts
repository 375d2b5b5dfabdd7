/**
 * A machine whose git is older than 2.36, or that has no mkfifo, cannot send a first sync in one answer: agents are told by the listing at once,
 * and no mirror is blamed. The controller really runs without them, as a mount of its own hides them.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import type { FirstSync } from '../../../support/programs/first-sync.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { absent, requires } from '../../../support/requires.ts'

const program = path.join(import.meta.dirname, '../../../support/programs/first-sync.ts')
const inOneAnswer = ['files 200']
const byListing = ['files 501', 'changes 200', 'blobs 200']

/** A first sync where `change`, a command of sh, was run before; it finds what lies in its folder. */
function firstSync(t: Test, folder: string, change: string): FirstSync {
  const dataDir = temporaryFolder(t, 'data')
  const layers = path.join(folder, 'layers')
  mkdirSync(layers)
  const prepare = [
    `cd ${folder}`,
    `mount -t tmpfs none ${layers}`,
    `mkdir ${layers}/upper ${layers}/work`,
    `mount -t overlay -o lowerdir=/usr/bin,upperdir=${layers}/upper,workdir=${layers}/work none /usr/bin`,
    change,
    'exec "$@"',
  ].join(' && ')
  // What tap loads into processes writes to a folder of its own when they end.
  const env = { ...process.env, NODE_OPTIONS: '' }
  const said = execFileSync('unshare', ['--mount', 'sh', '-c', prepare, 'sh', process.execPath, program, dataDir], { env, timeout: 90_000 })
  for (const [file, content] of [
    ['a/1', '1'],
    ['b/2', '2'],
  ] as const)
    t.equal(readFileSync(path.join(dataDir, 'projects', file), 'utf8'), content)
  return JSON.parse(said.toString('utf8')) as FirstSync
}

function mayNot(t: Test): boolean {
  if (process.geteuid?.() === 0) return !requires(t, 'git', 'unshare', 'mount')
  absent(t, 'only root may take a program away')
  return true
}

void t.test('with all that a machine has, a first sync is one answer', (t) => {
  if (!mayNot(t))
    t.same(firstSync(t, temporaryFolder(t, 'machine'), 'true'), { phase: 'Synced', told: inOneAnswer, waitedMs: 0, logged: [] })
  t.end()
})

void t.test('without mkfifo it is told by the listing, without a wait and without a doubt of the mirror', (t) => {
  if (!mayNot(t))
    t.same(firstSync(t, temporaryFolder(t, 'machine'), 'rm /usr/bin/mkfifo'), {
      phase: 'Synced',
      told: byListing,
      waitedMs: 0,
      logged: [],
    })
  t.end()
})

void t.test('so it is with a git that knows no form of a listing', (t) => {
  if (mayNot(t)) {
    t.end()
    return
  }
  const folder = temporaryFolder(t, 'machine')
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  copyFileSync(git, path.join(folder, 'git'))
  const older = path.join(folder, 'older')
  // Word for word what git 2.35 says of a listing's form.
  const script = [
    '#!/bin/sh',
    'listing=',
    'for word; do case "$listing$word" in',
    '  ls-tree) listing="ls-tree " ;;',
    '  "ls-tree --format="*) echo "error: unknown option \\`${word#--}\'" >&2; exit 129 ;;',
    'esac; done',
    `exec ${folder}/git "$@"`,
  ]
  writeFileSync(older, `${script.join('\n')}\n`)
  chmodSync(older, 0o755)
  t.same(firstSync(t, folder, `cp older ${git}`), { phase: 'Synced', told: byListing, waitedMs: 0, logged: [] })
  t.end()
})
