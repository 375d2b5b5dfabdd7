/**
 * Translates failures of connections to registries into faults. Pure.
 */
import { printable } from '../../api/values.ts'
import { Fault, type Reason } from '../../platform/fault.ts'

/** What failed in the connection to a host. */
export function networkFault(error: unknown, host: string): Fault {
  if (error instanceof Fault) return error
  const code = error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : ''
  const of = (reason: Reason, what: string): Fault => new Fault(reason, `${printable(host)} ${what}`, { cause: error })
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return of('GitHostUnknown', 'cannot be resolved')
  if (code === 'ECONNREFUSED') return of('GitConnectionRefused', 'refuses connections')
  if (code === 'ETIMEDOUT' || isTimeout(error)) return of('GitTimeout', 'did not answer in time')
  if (/CERT|SIGNATURE|ISSUER|ALTNAME/.test(code))
    return of('GitTlsUntrusted', `has a certificate that is not trusted (${code}); set spec.oci.caBundle`)
  return of('GitUnreachable', `cannot be reached${code === '' ? '' : `: ${code}`}`)
}

/** Whether a deadline has ended a call; a call that its signal ends reports only that it was aborted. */
export function isTimeout(error: unknown): boolean {
  return error instanceof Error && (error.name === 'TimeoutError' || isTimeout(error.cause))
}
