/**
 * A key is reported as invalid only if ssh-add has read it. A private mount hides or replaces the real tool.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { asFault } from '../../../../runtime/platform/fault.ts'
import { addKey, startAgent } from '../../../../runtime/git/credentials/ssh-agent.ts'
import { runThere, type MachineLimits, mayTakeToolsAway } from '../../../support/limited-machine.ts'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import { makeSshKey } from '../../../support/ssh-host.ts'

void t.test('an ssh-add that is missing, killed or slow does not make the key invalid', async (t) => {
  if (!mayTakeToolsAway(t) || !requires(t, 'ssh-add', 'ssh-agent', 'ssh-keygen')) return
  const { privateKey } = makeSshKey(temporaryFolder(t, 'key'), 'plant')
  const gone = 'ToolMissing: ssh-add is not installed or cannot be run'
  const invalid =
    'CredentialsInvalid: spec.git.auth.sshKey: ssh cannot read this private key, or it has a passphrase (spec.git.auth.sshKey.passphrase)'
  const rows: [string, MachineLimits, string, string][] = [
    ['a good key', {}, privateKey, 'added'],
    ['no key', {}, 'no key', invalid],
    ['gone', { commands: ['rm /usr/bin/ssh-add'] }, privateKey, gone],
    ['not to be run', { commands: ['chmod a-x /usr/bin/ssh-add'] }, privateKey, gone],
    ['killed', { tools: { 'ssh-add': 'kill -KILL $$' } }, privateKey, 'GitKilled: ssh-add was ended by SIGKILL'],
    ['slow', { tools: { 'ssh-add': 'exec sleep 60' } }, privateKey, 'Timeout: ssh-add did not end within 10 s'],
  ]
  await Promise.all(
    rows.map(async ([name, limits, key, expected]) => t.equal(await runThere(t, limits, 'add-key.ts', key), expected, name)),
  )
})

void t.test('an ssh-agent that has ended does not make the key invalid', async (t) => {
  if (!requires(t, 'ssh-add', 'ssh-agent', 'ssh-keygen')) return
  const folder = temporaryFolder(t, 'agent')
  const { privateKey } = makeSshKey(folder, 'plant')
  const signal = AbortSignal.timeout(60_000)
  const agent = await startAgent(path.join(folder, 'agent'), 60, signal)
  await agent.stop()
  const fault = asFault(
    await addKey(agent, { privateKey, passphrase: undefined, askProgram: '/bin/false' }, signal).catch((thrown) => thrown),
  )
  t.strictSame([fault.reason, fault.message], ['GitKilled', 'ssh-agent was killed before it received the key of spec.git.auth.sshKey'])
})

void t.test('a key that takes minutes to decrypt is refused after two seconds of computation', async (t) => {
  if (!requires(t, 'ssh-add', 'ssh-agent', 'ssh-keygen')) return
  const folder = temporaryFolder(t, 'agent')
  const file = path.join(folder, 'key')
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-a', '2', '-N', 'of the plant', '-f', file])
  const key = readFileSync(file, 'utf8')
  const [head = '', ...lines] = key.trim().split('\n')
  const bytes = Buffer.from(lines.slice(0, -1).join(''), 'base64')
  // The rounds follow the lengths of the options and of the salt, and the salt.
  bytes.writeUInt32BE(100_000, bytes.indexOf('bcrypt') + 'bcrypt'.length + 4 + 4 + 16)
  const slow = [head, ...(bytes.toString('base64').match(/.{1,70}/g) ?? []), lines.at(-1)].join('\n')
  const askProgram = path.join(folder, 'ask')
  writeFileSync(askProgram, '#!/bin/sh\necho "$CLUSTER_SYNC_PASSPHRASE"\n', { mode: 0o700 })
  const signal = AbortSignal.timeout(60_000)
  const agent = await startAgent(path.join(folder, 'agent'), 60, signal)
  t.teardown(async () => await agent.stop())
  const add = async (privateKey: string): Promise<string> =>
    await addKey(agent, { privateKey, passphrase: 'of the plant', askProgram }, signal).then(
      () => 'added',
      (thrown: unknown) => `${asFault(thrown).reason}: ${asFault(thrown).message}`,
    )
  const refused = 'the private key takes more than 2 s to decrypt; reduce its rounds with ssh-keygen -p -a 16'
  t.equal(await add(key), 'added')
  t.equal(await add(slow), `CredentialsInvalid: spec.git.auth.sshKey: ${refused}`)
})
