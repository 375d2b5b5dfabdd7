/**
 * Code reads every field that users can set, because an accepted and ignored field would fail silently. The compiler decides: all fields
 * are removed from the types, and a field counts as read if code that names it no longer compiles. Passing on, copying or hashing a whole
 * object does not count. Installation values are read by the chart templates that name them.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { agentSettings } from '../runtime/settings/agent.ts'
import { gatewaySyncSpec } from '../runtime/api/schema/spec.ts'
import { controllerSettings } from '../runtime/settings/controller.ts'

const root = path.resolve(import.meta.dirname, '..')

/** Types without their fields; the compiler's messages identify each type. */
const emptiedTypes = `
declare const path: unique symbol
interface Emptied<Path extends string> { readonly [path]: Path }
type HasFields<T> = NonNullable<T> extends readonly (infer E)[] ? HasFields<E>
  : NonNullable<T> extends object ? string extends keyof NonNullable<T> ? HasFields<NonNullable<T>[keyof NonNullable<T>]> : true : false
export type Empty<T, Path extends string> = T extends readonly (infer E)[] ? HasFields<E> extends true ? Empty<E, Path>[] : T
  : T extends object ? string extends keyof T ? HasFields<T[keyof T]> extends true ? Record<string, Empty<T[keyof T], Path>> : T
    : Emptied<Path> & { [K in keyof T as HasFields<T[K]> extends true ? K : never]: Empty<T[K], \`\${Path}.\${K & string}\`> }
  : T
`

/** The types with user-set fields: their place, and the prefix of their paths. */
const readers = [
  { file: 'api/schema/spec.ts', type: 'GatewaySyncSpec', name: 'spec', schema: gatewaySyncSpec({ allowLocal: true }) },
  { file: 'settings/controller.ts', type: 'ControllerSettings', name: 'controller', schema: controllerSettings },
  { file: 'settings/agent.ts', type: 'AgentSettings', name: 'agent', schema: agentSettings },
]

/** Fields that code reads without naming them, which the compiler could miss, each with the explanation. */
const explained = new Map([
  ['spec.git.commitStatus.secretRef.name', 'is handed on as a reference to a key'],
  ['spec.git.commitStatus.secretRef.key', 'is handed on as a reference to a key'],
  ['spec.git.proxy.secretRef.name', 'becomes part of a reference to a key'],
  ['spec.sync.profiles.healthCheck.http.path', 'takes the place of that of spec.sync.defaults'],
  ['spec.sync.profiles.healthCheck.http.status', 'takes the place of that of spec.sync.defaults'],
  ['spec.sync.profiles.healthCheck.prometheus.query', 'takes the place of that of spec.sync.defaults'],
  ['spec.sync.profiles.healthCheck.prometheus.url', 'takes the place of that of spec.sync.defaults'],
  ['spec.agent.resources.requests', 'goes into the container as it is'],
  ['spec.agent.resources.limits', 'goes into the container as it is'],
  ['spec.agent.imagePullSecrets.name', 'goes into the pod as it is'],
  ['controller.agent.securityContext', 'goes into the container as it is'],
  ['controller.watchLabelSelector.matchExpressions.key', 'read as a selector of labels'],
  ['controller.watchLabelSelector.matchExpressions.operator', 'read as a selector of labels'],
  ['controller.watchLabelSelector.matchExpressions.values', 'read as a selector of labels'],
  ['controller.receiver.trustedProxies', 'goes to the receiver as it is'],
  ['controller.statusPage.trustedProxies', 'goes to the status page as it is'],
  ['agent.deliveryHost', 'read from settings that were completed'],
  ['agent.deliveryTokenFile', 'read from settings that were completed'],
  ['agent.kubeconfig', 'read from settings that were completed'],
])

/** The credentials of a capture are read by the code for source credentials, which receives them in their place. */
for (const field of [
  ...['token', 'sshKey', 'sshKey.passphrase', 'sshKey.knownHosts'].flatMap((holder) => [
    `${holder}.secretRef.name`,
    `${holder}.secretRef.key`,
  ]),
  ...['basic', 'clientCertificate'].map((holder) => `${holder}.secretRef.name`),
  'sshKey.insecureIgnoreHostKey',
  ...['appId', 'installationId', 'privateKeySecretRef.name', 'privateKeySecretRef.key', 'apiBaseURL'].map((field) => `githubApp.${field}`),
])
  explained.set(`spec.capture.auth.${field}`, 'takes the place of that of spec.git.auth')

/** An artifact is read as a source in the terms of git (runtime/api/schema/oci-spec.ts), which another type describes. */
for (const field of ['url', 'tag', 'semver', 'digest', 'insecure', 'caBundle.secretRef.name', 'caBundle.secretRef.key'])
  explained.set(`spec.oci.${field}`, 'becomes a part of the source')
for (const holder of ['auth.dockerConfig', 'auth.basic', 'proxy', 'verify'])
  explained.set(`spec.oci.${holder}.secretRef.name`, 'becomes a part of the source')

type Schema = {
  type: string
  entries?: Record<string, Schema>
  wrapped?: Schema
  item?: Schema
  value?: Schema
  options?: readonly (Schema | string | number)[]
}

/** The paths of all leaf fields; lists and maps count as their elements. */
function fieldsOf(schema: Schema, name: string): string[] {
  const inner = schema.wrapped ?? schema.item ?? schema.value
  if (inner !== undefined) return fieldsOf(inner, name)
  if (schema.entries !== undefined) return Object.entries(schema.entries).flatMap(([field, one]) => fieldsOf(one, `${name}.${field}`))
  const objects = (schema.options ?? []).filter((one): one is Schema => typeof one === 'object' && one.entries !== undefined)
  return objects.length === 0 ? [name] : [...new Set(objects.flatMap((one) => fieldsOf(one, name)))]
}

/** The fields that the compiler misses when they are removed. */
function readFields(t: { teardown(work: () => void): void }): Set<string> {
  mkdirSync(path.join(root, 'build'), { recursive: true })
  const folder = mkdtempSync(path.join(root, 'build/fields-read-'))
  t.teardown(() => rmSync(folder, { recursive: true, force: true }))
  cpSync(path.join(root, 'runtime'), path.join(folder, 'runtime'), { recursive: true })
  writeFileSync(path.join(folder, 'runtime/emptied.ts'), emptiedTypes)
  for (const { file, type, name } of readers) {
    const full = path.join(folder, 'runtime', file)
    const text = readFileSync(full, 'utf8')
    const changed = text.replace(new RegExp(`^export type ${type} = (.*)$`, 'm'), `export type ${type} = Empty<$1, '${name}'>`)
    if (changed === text) throw new Error(`${file} has no type ${type} in one line`)
    const from = `./${'../'.repeat(file.split('/').length - 1)}emptied.ts`
    writeFileSync(full, `import type { Empty } from '${from}'\n${changed}`)
  }
  const { compilerOptions } = JSON.parse(readFileSync(path.join(root, 'tsconfig.json'), 'utf8')) as { compilerOptions: object }
  const options = { ...compilerOptions, noErrorTruncation: true, noUnusedLocals: false, noUnusedParameters: false }
  writeFileSync(path.join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, include: ['runtime'] }))
  // Without the NODE_OPTIONS of the tap command.
  const { stdout } = spawnSync('env', ['-u', 'NODE_OPTIONS', 'tsc', '-p', folder, '--pretty', 'false'], {
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  })
  const read = new Set<string>()
  const single = /Property '([^']+)' (?:does not exist on|is missing in) type '[^\n]*?Emptied<"([^"]+)">/g
  for (const [, field, owner] of stdout.matchAll(single)) read.add(`${owner}.${field}`)
  const several = /Type '[^\n]*?Emptied<"([^"]+)">[^\n]*? is missing the following properties from type '[^\n]*?': ([A-Za-z, ]+)/g
  for (const [, owner, fields = ''] of stdout.matchAll(several)) for (const field of fields.split(', ')) read.add(`${owner}.${field}`)
  return read
}

void t.test('code reads every field of a spec and of the settings', { timeout: 600_000 }, async (t) => {
  const read = readFields(t)
  for (const { name, schema } of readers) {
    const fields = fieldsOf(schema, name)
    t.ok(fields.length > 5, `${name}: ${fields.length} fields`)
    const unread = fields.filter((field) => !read.has(field))
    t.strictSame(
      unread.filter((field) => !explained.has(field)),
      [],
      `${name}: accepted and ignored`,
    )
    const stale = [...explained.keys()].filter((field) => field.startsWith(`${name}.`) && !unread.includes(field))
    t.strictSame(stale, [], `${name}: explained for nothing`)
  }
})
