/**
 * Checks with gpgv whether an OpenPGP key of the Secret made a signature, over a keyring that holds only those keys. gpgv also exits with 0
 * for expired and revoked keys, so its status lines decide.
 */
import { Fault } from '../../platform/fault.ts'
import { printable } from '../../api/values.ts'
import { runTool, type ToolOptions } from '../command/tool.ts'
import { decodePgp } from './armor.ts'
import type { SignatureResult } from './signature-result.ts'
import type { Keyring } from './keyring.ts'
import { packetsOf, type PgpSignature, signatureOf, weakDigestOf, weaknessOf } from './openpgp.ts'
import type { Signed } from './signed-object.ts'

/** Throws Timeout, GitKilled and ToolMissing. */
export async function verifyPgp({ payload, armor }: Signed, { pgp, pgpKeys }: Keyring, options: ToolOptions): Promise<SignatureResult> {
  const decoded = decodePgp(armor, 'PGP SIGNATURE')
  if (decoded.kind !== 'bytes') return bad(decoded.why)
  const signature = signatureOf(packetsOf(decoded.bytes), payload)
  if ('why' in signature) return bad(signature.why)
  const digest = weakDigestOf(signature)
  if (digest !== undefined) return bad(`is signed with ${digest}, which is too weak`)
  const named = signature.fingerprint ?? signature.keyId
  const key = [...pgpKeys.values()].find(({ fingerprint }) => named !== undefined && fingerprint.endsWith(named))
  if (key === undefined)
    return bad(`is signed by ${named === undefined ? 'an unidentified PGP key' : `PGP key ${named}`}, which is not in the Secret`)
  const weakness = weaknessOf(key)
  if (weakness !== undefined) return bad(`is signed by PGP key ${key.fingerprint}, which is too weak: ${weakness}`)
  const { code, stdout, stderr } = await runTool(
    {
      command: 'gpgv',
      args: ['--homedir', '/nonexistent', '--keyring', '{keyring}', '--status-fd', '1', '{signature}', '-'],
      files: { keyring: pgp, signature: decoded.bytes },
      input: payload,
    },
    options,
  )
  const lines = statusLines(stdout)
  if (!lines.some(({ keyword }) => signatureKeyword.test(keyword)))
    throw new Fault('ToolMissing', `gpgv did not look at the signature; install another version of it. It says: ${firstLineOf(stderr)}`)
  return verdictOf(lines, { signature, fingerprint: key.fingerprint, code })
}

/** NEWSIG, GOODSIG, BADSIG, ERRSIG and others: gpgv prints at least one of them if it has checked the signature. */
const signatureKeyword = /SIG$/

function firstLineOf(stderr: string): string {
  return printable(stderr.split('\n')[0] ?? '', 200)
}

type Status = { keyword: string; fields: string[] }

/** gpg-interface of GnuPG's doc/DETAILS: `[GNUPG:] KEYWORD field…`. */
function statusLines(output: string): Status[] {
  return output
    .split('\n')
    .filter((line) => line.startsWith('[GNUPG:] '))
    .map((line) => {
      const [keyword = '', ...fields] = line.slice('[GNUPG:] '.length).split(' ')
      return { keyword, fields }
    })
}

type Verification = { signature: PgpSignature; fingerprint: string; code: number }

function verdictOf(lines: readonly Status[], { signature, fingerprint, code }: Verification): SignatureResult {
  const all = (keyword: string): Status[] => lines.filter((line) => line.keyword === keyword)
  if (all('REVKEYSIG').length > 0) return bad(`is signed by PGP key ${fingerprint}, which is revoked`)
  if (all('EXPKEYSIG').length > 0) return bad(`is signed by PGP key ${fingerprint}, which has expired`)
  if (all('EXPSIG').length > 0) return bad('carries a signature that has expired')
  const [[good], [valid]] = [all('GOODSIG'), all('VALIDSIG')]
  const once = ['NEWSIG', 'GOODSIG', 'VALIDSIG'].every((keyword) => all(keyword).length === 1)
  if (code !== 0 || !once || good === undefined || valid === undefined) return bad('does not match its signature')
  const [signer = '', , , , , , , digest, signatureClass] = valid.fields
  const agrees = signer === fingerprint && digest === String(signature.digest) && signatureClass === '00'
  const isNamed = signature.keyId === undefined || signer.endsWith(signature.keyId)
  if (!agrees || !isNamed) return bad('carries a signature that names another key than the one that made it')
  const by = Buffer.from(good.fields.slice(1).join(' '), 'latin1').toString('utf8')
  return { kind: 'good', key: signer, by: by === '' ? undefined : by }
}

function bad(why: string): SignatureResult {
  return { kind: 'bad', why }
}
