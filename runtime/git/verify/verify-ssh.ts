/**
 * Checks with `ssh-keygen -Y verify` whether an SSH key of the Secret made a signature for git, over a file of allowed signers that holds
 * only the key that the signature names.
 */
import { Fault } from '../../platform/fault.ts'
import { runTool, type ToolOptions } from '../command/tool.ts'
import { decodeSsh, encodeSsh } from './armor.ts'
import type { SignatureResult } from './signature-result.ts'
import type { Keyring } from './keyring.ts'
import type { Signed } from './signed-object.ts'
import { fingerprintOf, signingKeyOf, type SshKey, weaknessOf } from './ssh-keys.ts'

const namespace = 'git'
const signer = 'signer'
/** ssh-keygen's message for an unknown option or operation, as for `-Y verify` before OpenSSH 8.1. */
const isTooOld = /^usage:|(?:unknown|illegal|unrecognized) option/im

/** Throws Timeout, GitKilled and ToolMissing. */
export async function verifySsh({ payload, armor }: Signed, { sshKeys }: Keyring, options: ToolOptions): Promise<SignatureResult> {
  const decoded = decodeSsh(armor)
  if (decoded.kind !== 'bytes') return bad(decoded.why)
  const made = signingKeyOf(decoded.bytes)
  if (made === undefined) return bad('carries an SSH signature that is damaged')
  const key = sshKeys.get(fingerprintOf(made))
  if (key === undefined) return bad(`is signed by SSH key ${fingerprintOf(made)}, which is not in the Secret`)
  const weakness = weaknessOf(key)
  if (weakness !== undefined) return bad(`is signed by SSH key ${key.fingerprint}, which is too weak: ${weakness}`)
  const { code, stdout, stderr } = await runTool(
    {
      command: 'ssh-keygen',
      args: ['-Y', 'verify', '-n', namespace, '-I', signer, '-f', '{allowed}', '-s', '{signature}'],
      files: { allowed: Buffer.from(allowedSigners(key)), signature: Buffer.from(encodeSsh(decoded.bytes)) },
      input: payload,
    },
    options,
  )
  if (code === 0 && stdout.startsWith(`Good "${namespace}" signature for ${signer} with `))
    return { kind: 'good', key: key.fingerprint, by: key.by }
  if (stderr.includes('key has expired')) return bad(`is signed by SSH key ${key.fingerprint}, which has expired`)
  if (stderr.includes('key is not yet valid')) return bad(`is signed by SSH key ${key.fingerprint}, which is not valid yet`)
  if (code !== 0 && isTooOld.test(stderr))
    throw new Fault('ToolMissing', 'ssh-keygen is too old to check a signature (ssh-keygen -Y verify); install OpenSSH 8.1 or newer')
  return bad('does not match its signature')
}

function allowedSigners({ type, blob, validAfter, validBefore }: SshKey): string {
  const options = [
    `namespaces="${namespace}"`,
    ...(validAfter === undefined ? [] : [`valid-after="${validAfter}"`]),
    ...(validBefore === undefined ? [] : [`valid-before="${validBefore}"`]),
  ]
  return `${signer} ${options.join(',')} ${type} ${blob.toString('base64')}\n`
}

function bad(why: string): SignatureResult {
  return { kind: 'bad', why }
}
