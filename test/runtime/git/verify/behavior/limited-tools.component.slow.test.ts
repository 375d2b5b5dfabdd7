/**
 * If gpgv or ssh-keygen is killed or cannot check a signature, the result is a fault: a good commit is not reported as forged, and no
 * commit is accepted. The real tools recognize a wrong signature on the same machine.
 */
import t, { type Test } from 'tap'
import { runThere, type MachineLimits, mayTakeToolsAway } from '../../../../support/limited-machine.ts'
import type { SignaturesQuestion } from '../../../../support/programs/check-signatures.ts'
import { makeRepository, temporaryFolder } from '../../../../support/repository.ts'
import { requires } from '../../../../support/requires.ts'
import { makeGpg, makeSshKey, rawObject, type Sign, signCommit } from '../../../../support/signing.ts'

const killed = 'kill -KILL $$'
const wrong = 'commit it does not match its signature'

/** A signed commit, and one whose signature only the tool can recognize as wrong. */
function question(folder: string, keys: string, sign: Sign, wrongly: Sign): SignaturesQuestion {
  const repository = makeRepository(folder)
  const raw = rawObject(repository, 'commit', repository.commit({ 'a.txt': 'one' }))
  return { commits: [sign, wrongly].map((one) => signCommit(raw, one).toString('base64')), keys }
}

/** The same signature with one bit of its last number flipped. */
function flipped(armor: string): string {
  const lines = armor.trimEnd().split('\n')
  const body = lines.slice(lines.indexOf('') + 1, -1).filter((line) => !line.startsWith('='))
  const bytes = Buffer.from(body.join(''), 'base64')
  bytes[bytes.length - 1] = (bytes.at(-1) ?? 0) ^ 1
  const encoded = bytes.toString('base64').match(/.{1,64}/g) ?? []
  return [lines[0], '', ...encoded, lines.at(-1), ''].join('\n')
}

async function rows(
  t: Test,
  asked: SignaturesQuestion,
  all: readonly (readonly [string, MachineLimits, readonly string[]])[],
): Promise<void> {
  for (const [name, limits, expected] of all) t.strictSame(await runThere(t, limits, 'check-signatures.ts', asked), expected, name)
}

const both = (said: string): string[] => [said, said]

void t.test('an ssh-keygen that gives no verdict never makes a commit verified, and its failures are named', async (t) => {
  if (!mayTakeToolsAway(t) || !requires(t, 'git', 'ssh-keygen')) return
  const folder = temporaryFolder(t, 'signatures')
  const key = makeSshKey(folder, 'ann')
  const tooOld = both('ToolMissing: ssh-keygen is too old to check a signature (ssh-keygen -Y verify); install OpenSSH 8.1 or newer')
  await rows(t, question(`${folder}/repository`, key.publicKey, key.sign(), key.sign('file')), [
    ['as it is', {}, ['verified', wrong]],
    ['killed', { tools: { 'ssh-keygen': killed } }, both('GitKilled: ssh-keygen was ended by SIGKILL')],
    ['OpenSSH 7.9', { tools: { 'ssh-keygen': "echo 'unknown option -- Y' >&2; echo 'usage: ssh-keygen [-q]' >&2; exit 1" } }, tooOld],
    [
      'OpenSSH 8.0',
      { tools: { 'ssh-keygen': "echo 'Unsupported operation for -Y: \"verify\"' >&2; echo 'usage: ssh-keygen' >&2; exit 1" } },
      tooOld,
    ],
    ['another libc', { tools: { 'ssh-keygen': "echo 'ssh-keygen: illegal option -- Y' >&2; exit 1" } }, tooOld],
    ['gone', { commands: ['rm /usr/bin/ssh-keygen'] }, both('ToolMissing: ssh-keygen is not installed or cannot be run')],
    [
      'no /dev/fd',
      { commands: ['mount -t tmpfs none /dev'] },
      both('ToolMissing: /dev/fd does not exist, and ssh-keygen needs it to read its files; mount /proc'),
    ],
    ['good without a word', { tools: { 'ssh-keygen': 'exit 0' } }, both(wrong)],
  ])
})

void t.test('a gpgv that gives no verdict never makes a commit verified, and its failures are named', async (t) => {
  if (!mayTakeToolsAway(t) || !requires(t, 'git', 'gpg', 'gpgv')) return
  const folder = temporaryFolder(t, 'signatures')
  const key = makeGpg(t).key('Ann')
  const silent = 'ToolMissing: gpgv did not check the signature; install another version. Its output: '
  await rows(
    t,
    question(`${folder}/repository`, key.publicKey().toString('utf8'), key.sign(), (payload) => flipped(key.sign()(payload))),
    [
      ['as it is', {}, ['verified', wrong]],
      ['killed', { tools: { gpgv: killed } }, both('GitKilled: gpgv was ended by SIGKILL')],
      [
        'an option is unknown',
        { tools: { gpgv: 'echo \'gpgv: invalid option "--status-fd"\' >&2; exit 2' } },
        both(`${silent}gpgv: invalid option "--status-fd"`),
      ],
      ['good without a word', { tools: { gpgv: 'exit 0' } }, both(silent)],
      [
        'no /dev/fd',
        { commands: ['mount -t tmpfs none /dev'] },
        both('ToolMissing: /dev/fd does not exist, and gpgv needs it to read its files; mount /proc'),
      ],
    ],
  )
})
