/**
 * The Secrets of the pages: the real kubectl runs each `kubectl create secret` as a dry run, and a Secret that YAML of the same page names
 * is created there with the named key.
 */
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { ensureProgram } from './cluster/binaries.ts'
import { makeAuthority } from './support/authority.ts'
import { textsIn } from './support/page.ts'
import { temporaryFolder } from './support/repository.ts'
import { requires } from './support/requires.ts'

const root = path.resolve(import.meta.dirname, '..')
const pages = readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.md'))
  .map((name) => path.join('docs', name))

type Secret = { metadata: { name: string; namespace?: string }; data: Record<string, string> }
type Named = { name: string; key?: string | undefined }

/** The Secrets that YAML names for a GatewaySync, with their keys if it names those. */
function namedIn(value: unknown): Named[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([field, inner]: [string, unknown]) =>
    /secretRef$/i.test(field) ? [inner as Named] : field === 'secretName' ? [{ name: String(inner), key: undefined }] : namedIn(inner),
  )
}

/** Secrets that a page names and that its reader creates without a command. */
const leftToReader: Readonly<Record<string, readonly string[]>> = {
  'docs/how-to/api-key.md': ['gateway-api'],
  'docs/how-to/capture.md': ['git-captures'],
  'docs/how-to/notifications.md': ['plant-chat'],
  'docs/how-to/status-page.md': ['gateways-tls', 'status-page-login', 'status-page-proxy'],
  'docs/how-to/webhooks/set-up.md': ['receiver-tls'],
}

void t.test('every Secret of the pages can be created, with the keys that the page names', { timeout: 600_000 }, async (t) => {
  if (!requires(t, 'openssl', 'sh')) return
  const folder = temporaryFolder(t, 'secrets')
  const programs = path.join(folder, 'programs')
  mkdirSync(programs)
  symlinkSync(await ensureProgram('kubectl', () => undefined), path.join(programs, 'kubectl'))
  const { client } = await makeAuthority(path.join(folder, 'authority'), 'Plant CA', ['localhost'])
  const env = { ...process.env, PATH: `${programs}:${process.env['PATH']}`, KUBECONFIG: path.join(folder, 'none'), TOKEN: 'token' }
  let [made, compared] = [0, 0]
  for (const page of pages) {
    const commands = textsIn(page, 'sh').flatMap((text) => text.replaceAll(/\\\n\s*/g, ' ').match(/^kubectl create secret .*$/gm) ?? [])
    const secrets = new Map<string, Secret>()
    for (const command of commands) {
      const files = [...command.matchAll(/--(?:from-file|cert|key)=(?:[\w.-]+=)?(\S+)/g)].map(([, file = '']) => file)
      for (const file of files) writeFileSync(path.join(folder, file), file.endsWith('.key') ? client.key : client.certificate)
      const words = ['-ec', `${command} --dry-run=client --output=json`]
      const { stdout } = await promisify(execFile)('sh', words, { cwd: folder, env, timeout: 30_000 })
      const secret = JSON.parse(stdout) as Secret
      t.ok(secret.metadata.namespace !== undefined && Object.values(secret.data).every((value) => value !== ''), command)
      secrets.set(secret.metadata.name, secret)
      made += 1
    }
    const named = textsIn(page, 'yaml').flatMap((text) => parseAllDocuments(text).flatMap((document) => namedIn(document.toJS())))
    const absent = new Set(named.map(({ name }) => name).filter((name) => !secrets.has(name)))
    t.strictSame([...absent].toSorted(), leftToReader[page] ?? [], `${page} makes the Secrets that it names`)
    for (const { name, key } of named) {
      const secret = secrets.get(name)
      if (secret === undefined || key === undefined) continue
      t.ok(key in secret.data, `${page}: ${name} has ${key}`)
      compared += 1
    }
  }
  t.ok(made > 15 && compared > 10, `${made} Secrets, ${compared} keys`)
})
