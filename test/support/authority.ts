/**
 * A certificate authority for git hosts of tests, with server and client certificates.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { issueAuthority, issueLeaf, type KeyPair } from '../../runtime/certificates/issue.ts'
import { Temporal } from '../../runtime/platform/temporal.ts'

export type Authority = { certificate: string; server: KeyPair; client: KeyPair }

export async function makeAuthority(folder: string, name: string, serverNames = ['127.0.0.1', 'git.example']): Promise<Authority> {
  mkdirSync(folder, { recursive: true })
  const now = Temporal.Now.instant()
  const validity = { from: now.subtract({ hours: 1 }), until: now.add({ hours: 24 }) }
  const authority = await issueAuthority(name, validity)
  const server = await issueLeaf(authority, serverNames, validity)
  const at = (file: string): string => path.join(folder, `${name.replaceAll(' ', '-')}-${file}`)
  writeFileSync(at('ca.crt'), authority.certificate)
  writeFileSync(at('ca.key'), authority.key)
  writeFileSync(at('ext'), 'extendedKeyUsage=clientAuth\n')
  const openssl = (...args: string[]): void => void execFileSync('openssl', args, { stdio: 'ignore' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', at('client.key')]
  openssl('req', '-new', ...key, '-subj', '/CN=plant', '-out', at('client.csr'))
  const issuer = ['-CA', at('ca.crt'), '-CAkey', at('ca.key'), '-set_serial', '7']
  openssl('x509', '-req', '-in', at('client.csr'), ...issuer, '-days', '1', '-extfile', at('ext'), '-out', at('client.crt'))
  return {
    certificate: authority.certificate,
    server,
    client: { certificate: readFileSync(at('client.crt'), 'utf8'), key: readFileSync(at('client.key'), 'utf8') },
  }
}
