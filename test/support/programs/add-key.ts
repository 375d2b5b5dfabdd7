/**
 * Reads a private key as JSON and adds it to an ssh-agent of its own. Prints as JSON `added`, or the fault: `reason: message`.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { text } from 'node:stream/consumers'
import { asFault } from '../../../runtime/platform/fault.ts'
import { addKey, startAgent } from '../../../runtime/git/credentials/ssh-agent.ts'

const privateKey = JSON.parse(await text(process.stdin)) as string
const signal = AbortSignal.timeout(60_000)
const folder = mkdtempSync(path.join(tmpdir(), 'add-key-'))
const agent = await startAgent(path.join(folder, 'agent'), 60, signal)
const said = await addKey(agent, { privateKey, passphrase: undefined, askProgram: '/bin/false' }, signal).then(
  () => 'added',
  (error: unknown) => `${asFault(error).reason}: ${asFault(error).message}`,
)
await agent.stop()
rmSync(folder, { recursive: true })
process.stdout.write(JSON.stringify(said))
