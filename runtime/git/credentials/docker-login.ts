/**
 * Reads the login of a registry from a Secret of the type kubernetes.io/dockerconfigjson. Pure.
 */
import { Fault } from '../../platform/fault.ts'
import { jsonOrUndefined } from '../../platform/text/json.ts'

/** `registry`: host, and port if the URL names one. Throws CredentialsInvalid, without any of the text, which is secret. */
export function dockerLogin(text: string, registry: string, field: string): { username: string; password: string } {
  const { auths } = (jsonOrUndefined(text) ?? {}) as { auths?: unknown }
  if (typeof auths !== 'object' || auths === null) throw new Fault('CredentialsInvalid', `${field} holds no JSON with auths`)
  const [, found] = Object.entries(auths).find(([name]) => hostIn(name) === registry) ?? []
  const { username, password, auth } = (found ?? {}) as Record<string, unknown>
  if (typeof username === 'string' && typeof password === 'string') return { username, password }
  // `docker login` writes both only as `auth`.
  const decoded = typeof auth === 'string' ? Buffer.from(auth, 'base64').toString('utf8') : ''
  const colon = decoded.indexOf(':')
  if (colon > 0) return { username: decoded.slice(0, colon), password: decoded.slice(colon + 1) }
  throw new Fault('CredentialsInvalid', `${field} holds no user name and password for "${registry}"`)
}

/** Entries may be URLs, as `https://registry.example/v1/`. */
function hostIn(name: string): string {
  return name
    .replace(/^https?:\/\//, '')
    .replace(/\/.*$/, '')
    .toLowerCase()
}
