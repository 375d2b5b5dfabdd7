/**
 * On a machine with a git older than 2.36, or without mkfifo, a first sync cannot be sent as one answer: agents get the listing at once,
 * and the mirror is not reported as damaged. A private mount hides the tools from the real controller.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t, { type Test } from 'tap'
import { runThere, mayTakeToolsAway } from '../../../support/limited-machine.ts'
import type { FirstSync } from '../../../support/programs/first-sync.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'

const inOneAnswer = ['files 200']
const byListing = ['files 501', 'changes 200', 'blobs 200']

/** Runs a first sync after the shell command `change`. */
async function firstSync(t: Test, change: string): Promise<FirstSync> {
  const dataDir = temporaryFolder(t, 'data')
  const result = (await runThere(t, { commands: [change] }, 'first-sync.ts', dataDir)) as FirstSync
  for (const [file, content] of [
    ['a/1', '1'],
    ['b/2', '2'],
  ] as const)
    t.equal(readFileSync(path.join(dataDir, 'projects', file), 'utf8'), content)
  return result
}

void t.test('with all tools a first sync is one answer', async (t) => {
  if (!mayTakeToolsAway(t) || !requires(t, 'git')) return
  t.strictSame(await firstSync(t, 'true'), { phase: 'Synced', told: inOneAnswer, waitedMs: 0, logged: [] })
})

void t.test('without mkfifo a first sync uses the listing, without a wait or suspected mirror damage', async (t) => {
  if (!mayTakeToolsAway(t) || !requires(t, 'git')) return
  t.strictSame(await firstSync(t, 'rm /usr/bin/mkfifo'), { phase: 'Synced', told: byListing, waitedMs: 0, logged: [] })
})

void t.test('with a git without ls-tree --format a first sync uses the listing', async (t) => {
  if (!mayTakeToolsAway(t) || !requires(t, 'git')) return
  const folder = temporaryFolder(t, 'git')
  const git = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim()
  copyFileSync(git, path.join(folder, 'git'))
  const older = path.join(folder, 'older')
  // The exact message of git 2.35 for ls-tree --format.
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
  t.strictSame(await firstSync(t, `cp ${older} ${git}`), { phase: 'Synced', told: byListing, waitedMs: 0, logged: [] })
})
