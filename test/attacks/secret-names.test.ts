/**
 * A GatewaySync refers only to Secrets of its own namespace, whatever name it gives.
 */
import t from 'tap'
import * as v from 'valibot'
import { gatewaySyncCrd } from '../../infra/crd.ts'
import { gatewaySyncSpec } from '../../runtime/api/schema/spec.ts'
import { pathOf, secretType } from '../../runtime/kube/types.ts'

type Schema = { pattern?: string; properties?: Record<string, Schema>; items?: Schema; additionalProperties?: Schema }

/** The schemas of all Secret names and keys below a schema, by path. */
function secretTexts({ properties = {}, items, additionalProperties }: Schema, path: string): [string, Schema][] {
  const own = Object.entries(properties).flatMap(([name, field]): [string, Schema][] => {
    const at = `${path}.${name}`
    const isText = /secretRef\.(name|key)$|\.secretName$|\.secretKey$|\.imagePullSecrets\[\]\.name$/i.test(at)
    return isText ? [[at, field]] : secretTexts(field, at)
  })
  const inner = [items, additionalProperties].flatMap((schema, index) =>
    typeof schema === 'object' ? secretTexts(schema, index === 0 ? `${path}[]` : `${path}.*`) : [],
  )
  return [...own, ...inner]
}

const refusedAsName = ['', '.', '..', '../../b/secrets/s', 'a/b', 'a%2fb', 'a?b', 'a#b', 'A', 'a_b', '-a', 'a-', 'a..b', 'a\n']
const acceptedAsName = ['a', '0', 'git-token', 'git.example.com', 'a'.repeat(253)]
const refusedAsKey = ['', '.', '..', '..data', '../a', 'a/b', 'a%2fb', 'a b', 'a\n']
const acceptedAsKey = ['a', 'tls.crt', '.dockerconfigjson', 'ssh_key', 'A-1', 'a..b']

const [version] = gatewaySyncCrd().spec.versions as unknown as { schema: { openAPIV3Schema: Schema } }[]
const texts = secretTexts(version?.schema.openAPIV3Schema.properties?.['spec'] ?? {}, 'spec')
const apiKey = (api: object): object => ({
  git: { repo: 'https://git.example/plant.git', ref: 'main' },
  gateway: { api },
  sync: { profiles: { default: { mappings: [{ source: 'a', destination: 'b' }] } } },
})
const accepts = (api: object): boolean => v.is(gatewaySyncSpec({ allowLocal: false }), apiKey(api))

void t.test('every name and key of a Secret in the CRD has the pattern of the API server', async (t) => {
  t.ok(texts.length > 20, 'they are found')
  for (const [at, { pattern = '' }] of texts) {
    const isName = /name$/i.test(at)
    const matches = (text: string): boolean => new RegExp(pattern).test(text)
    for (const text of isName ? acceptedAsName : acceptedAsKey) t.ok(pattern !== '' && matches(text), `${at} accepts ${text}`)
    for (const text of isName ? refusedAsName : refusedAsKey) t.notOk(matches(text), `${at} refuses ${JSON.stringify(text)}`)
  }
})

void t.test('a spec with an invalid Secret name or key is refused', async (t) => {
  for (const secretName of acceptedAsName) t.ok(accepts({ secretName }), secretName)
  for (const secretName of refusedAsName) t.notOk(accepts({ secretName }), JSON.stringify(secretName))
  for (const secretKey of acceptedAsKey) t.ok(accepts({ secretName: 'a', secretKey }), secretKey)
  for (const secretKey of refusedAsKey) t.notOk(accepts({ secretName: 'a', secretKey }), JSON.stringify(secretKey))
})

void t.test('a name never leads to another object or collection of the API server', async (t) => {
  for (const name of ['', '.', '..']) {
    t.throws(() => pathOf(secretType, { namespace: 'a', name }), /is not a valid name for an object/)
    t.throws(() => pathOf(secretType, { namespace: name, name: 'a' }), /is not a valid name for an object/)
  }
  t.equal(pathOf(secretType, { namespace: 'a', name: '../../b/secrets/s' }), '/api/v1/namespaces/a/secrets/..%2F..%2Fb%2Fsecrets%2Fs')
})
