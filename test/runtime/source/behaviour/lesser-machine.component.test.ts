/**
 * A machine whose git is older than 2.36, or that has no mkfifo, cannot send a first sync in one answer: agents are told by the listing at once,
 * and no mirror is blamed. The controller really runs without them, as a mount of its own hides them.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { askThere, mayTakeToolsAway } from '../../../support/lesser-machine.ts'
import type { FirstSync } from '../../../support/programs/first-sync.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const inOneAnswer = ['files 200']
const byListing = ['files 501', 'changes 200', 'blobs 200']

/** A first sync where `change`, a command of sh, was run before. */
async function firstSync(t: Test, change: string): Promise<FirstSync> {
  const dataDir = temporaryFolder(t, 'data')
  const result = (await askThere(t, { commands: [change] }, 'first-sync.ts', dataDir)) as FirstSync
  for (const [file, content] of [
    ['a/1', '1'],
    ['b/2', '2'],
  ] as const)
    t.equal(readFileSync(path.join(dataDir, 'projects', file), 'utf8'), content)
  return result
}

void t.test('with all that a machine has, a first sync is one answer', async (t) => {
  if (!mayTakeToolsAway(t) || !requires(t, 'git')) return
  t.same(await firstSync(t, 'true'), { phase: 'Synced', told: inOneAnswer, waitedMs: 0, logged: [] })
})

void t.test('without mkfifo it is told by the listing, without a wait and without a doubt of the mirror', async (t) => {
  if (!mayTakeToolsAway(t) || !requires(t, 'git')) return
  t.same(await firstSync(t, 'rm /usr/bin/mkfifo'), { phase: 'Synced', told: byListing, waitedMs: 0, logged: [] })
})

void t.test('so it is with a git that knows no form of a listing', async (t) => {
  if (!mayTakeToolsAway(t) || !requires(t, 'git')) return
  const folder = temporaryFolder(t, 'git')
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
  t.same(await firstSync(t, `cp ${older} ${git}`), { phase: 'Synced', told: byListing, waitedMs: 0, logged: [] })
})
