/**
 * An artifact as the source of a spec, in the terms of git: for the controller, and the same for an agent.
 */
import t from 'tap'
import * as v from 'valibot'
import { followedRef } from '../../../../runtime/api/followed-ref.ts'
import { readFollowedSpec } from '../../../../runtime/api/schema/followed-spec.ts'
import { gatewaySyncSpec, sourceSecretNames } from '../../../../runtime/api/schema/spec.ts'
const schema = gatewaySyncSpec({ allowLocal: false })
const sync = { profiles: { default: { mappings: [{ source: 'a', destination: 'b' }] } } }
const url = 'oci://registry.example:5000/plants/north'
const digest = `sha256:${'a'.repeat(64)}`

void t.test('controller and agent follow the same repository and ref of an artifact', async (t) => {
  const rows = [
    [{ url }, url, 'latest'],
    [{ url, tag: 'v1' }, url, 'v1'],
    [{ url, semver: '>=1.2 <2' }, url, 'semver:>=1.2,<2'],
    [{ url, digest }, url, digest],
    [{ url, insecure: true }, 'oci+http://registry.example:5000/plants/north', 'latest'],
  ] as const
  for (const [oci, repo, ref] of rows) {
    const { git } = v.parse(schema, { oci, sync })
    t.strictSame([git.repo, followedRef(git)], [repo, ref])
    const read = readFollowedSpec({ oci, sync }, 'default')
    if (read.kind === 'invalid') t.fail(read.message)
    else t.strictSame([read.spec.git.repo, followedRef(read.spec.git)], [repo, ref])
  }
  t.strictSame(readFollowedSpec({ sync }, 'default'), { kind: 'invalid', path: 'git', message: 'is missing, and so is spec.oci' })
})

void t.test('the Secrets of an artifact are read anew when they change, as those of a repository', async (t) => {
  const secret = (name: string) => ({ secretRef: { name } })
  const oci = {
    url,
    auth: { dockerConfig: secret('login') },
    caBundle: { secretRef: { name: 'ca', key: 'ca.crt' } },
    proxy: secret('proxy'),
    verify: secret('keys'),
  }
  t.strictSame(sourceSecretNames(v.parse(schema, { oci, sync }).git), ['login', 'ca', 'proxy', 'keys'])
})
