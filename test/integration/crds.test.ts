/**
 * The objects of both kinds that the API server accepts and refuses, its messages and its defaults.
 */
import t from 'tap'
import * as v from 'valibot'
import { gatewaySyncCrd, syncReportCrd } from '../../infra/crd.ts'
import { Fault } from '../../runtime/platform/fault.ts'
import { apiVersion } from '../../runtime/api/names.ts'
import { gatewaySyncSpec } from '../../runtime/api/schema/spec.ts'
import { gatewaySyncType } from '../../runtime/kube/types.ts'
import { containsText } from '../support/assertions.ts'
import { requires } from '../support/requires.ts'
import { openWorld, until } from '../support/world.ts'

type Spec = Record<string, unknown>

const git = { repo: 'https://git.example/plant.git', ref: 'main' }
const mapping = { source: 'projects', destination: 'projects' }
const sync = { profiles: { default: { mappings: [mapping] } } }
const pushToken = { token: { secretRef: { name: 'push', key: 'token' } } }
const keyOfHost = { secretRef: { name: 'x', key: 'y' }, insecureIgnoreHostKey: true }
const minimal: Spec = { git, sync }
const profile = (members: Spec): Spec => ({ git, sync: { profiles: { default: members } } })
const artifact = { url: 'oci://10.0.0.7/plant' }
const withOci = (members: Spec): Spec => ({ oci: { ...artifact, ...members }, sync })
const withGit = (members: Spec): Spec => ({ git: { ...git, ...members }, sync })

const longVars = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`v${index}`, 'x'.repeat(4096)]))

/** The maximum number of mappings and patched values that the schema permits, with texts of this length. */
const patched = (mappings: number, values: number, length: number): Spec =>
  profile({
    mappings: Array.from({ length: mappings }, (_, index) => {
      const set = Object.fromEntries(Array.from({ length: values }, (_, value) => [`$.v${value}`, 'x'.repeat(length)]))
      return { source: `s${index}`, destination: `d${index}`, patches: [{ file: 'config.json', set }] }
    }),
  })

const everything: Spec = {
  git: {
    repo: 'git@git.example:plant.git',
    ref: 'refs/tags/v1.2.3',
    auth: { sshKey: { secretRef: { name: 'git', key: 'ssh' }, knownHosts: { secretRef: { name: 'git', key: 'known_hosts' } } } },
    caBundle: { secretRef: { name: 'ca', key: 'ca.crt' } },
    proxy: { secretRef: { name: 'proxy' } },
    allowedRefs: ['main', 'v*'],
    verify: { mode: 'TagAndCommit', secretRef: { name: 'keys' } },
  },
  polling: { enabled: false, interval: '1h30m' },
  webhook: { hmac: { secretRef: { name: 'hook', key: 'hmac' } } },
  gateway: { port: 8043, tls: true, api: { secretName: 'api' } },
  sync: {
    defaults: { excludePatterns: ['**/*.bak'], vars: { db: 'x' }, maxDeletions: 20, designerSessionPolicy: 'Wait', drift: 'Restore' },
    profiles: {
      default: {
        collections: { root: 'services/config/resources' },
        mappings: [{ ...mapping, patches: [{ file: '**/config.json', set: { a: 'b' } }] }],
      },
      'edge-1': { mappings: [{ ...mapping, type: 'File', required: false, template: true, prune: 'None' }], startPolicy: 'Start' },
    },
  },
  validation: { policy: 'Warn', rules: { 'stale-signature': 'off' } },
  agent: { resources: { limits: { memory: '256Mi', cpu: 1 } }, imagePullSecrets: [{ name: 'pull' }] },
  paused: true,
}

const accepted: [string, Spec][] = [
  ['the least that makes sense', minimal],
  ['everything at once', everything],
  ['http without credentials', withGit({ repo: 'http://git.example/plant.git' })],
  ['the default branch, unnamed', { git: { repo: git.repo }, sync }],
  ['the default branch by its name', withGit({ ref: 'HEAD' })],
  ['the newest version', { git: { repo: git.repo, semver: '>=1.2 <2' }, sync }],
  ['the newest tag of a pattern', { git: { repo: git.repo, tagPattern: 'plant-*' }, sync }],
  ['vars of 36 KiB', profile({ mappings: [mapping], vars: longVars })],
  ['a patched value of 4 KiB in each of 15 mappings', patched(15, 1, 4096)],
  ['the most mappings, each with the most patched values', patched(64, 8, 20)],
  ['a full hash', withGit({ ref: 'a'.repeat(40) })],
  ['a capture of changes that were left alone', { ...minimal, capture: { trigger: 'Drift', quietPeriod: '1m', auth: pushToken } }],
  ['an artifact', { oci: artifact, sync }],
  [
    'everything about an artifact',
    {
      oci: {
        url: 'oci://registry.plant.example:5000/plants/north_1',
        semver: '>=1.2 <2',
        auth: { dockerConfig: { secretRef: { name: 'registry' } } },
        caBundle: { secretRef: { name: 'ca', key: 'ca.crt' } },
        proxy: { secretRef: { name: 'proxy' } },
        verify: { secretRef: { name: 'cosign' } },
      },
      webhook: pushToken,
      sync,
    },
  ],
  ['an artifact by its digest over http', { oci: { ...artifact, digest: `sha256:${'0'.repeat(64)}`, insecure: true }, sync }],
  ['a percentage and a number of deletions', { ...minimal, sync: { ...sync, defaults: { maxDeletions: '0%' } } }],
]

const refused: [string, Spec, RegExp][] = [
  ['a ref and a range', withGit({ semver: '>=1.2 <2' }), /at most one of ref, semver and tagPattern/],
  ['a range and a pattern', { git: { repo: git.repo, semver: '*', tagPattern: 'v*' }, sync }, /at most one of ref, semver and tagPattern/],
  ['a pattern with a space', { git: { repo: git.repo, tagPattern: 'v *' }, sync }, /spec\.git\.tagPattern/],
  ['an empty ref', withGit({ ref: '' }), /spec\.git\.ref/],
  ['a ref that is an option', withGit({ ref: '--upload-pack=x' }), /must be a branch, a tag/],
  ['a ref with dots', withGit({ ref: 'a..b' }), /must be a branch, a tag/],
  ['a path as repository', withGit({ repo: '/srv/plant.git' }), /must be an https, http or ssh URL/],
  ['a repository of another host than it seems', withGit({ repo: 'ssh://git.example#@127.0.0.1/x' }), /must be an https, http or ssh URL/],
  ['a host that is a number', withGit({ repo: 'https://2130706433/x' }), /must be an https, http or ssh URL/],
  ['a path with a dot segment', withGit({ repo: 'https://git.example/a/%2e%2e/b' }), /must not contain a \. or \.\. segment/],
  ['ssh without a key', withGit({ repo: 'git@git.example:x' }), /an ssh repository requires auth.sshKey/],
  [
    'an ssh key without host keys',
    withGit({ repo: 'git@git.example:x', auth: { sshKey: { secretRef: { name: 'a', key: 'b' } } } }),
    /knownHosts is required/,
  ],
  ['a repository that runs a program', withGit({ repo: 'ext::sh -c x' }), /must be an https, http or ssh URL/],
  ['a password in the URL', withGit({ repo: 'https://u:p@git.example/x' }), /must not contain a user, password or token/],
  ['credentials over http', withGit({ repo: 'http://git.example/x', auth: { token: { secretRef: { name: 'a', key: 'b' } } } }), /http/],
  [
    'two kinds of credentials',
    withGit({ auth: { token: { secretRef: { name: 'a', key: 'b' } }, basic: { secretRef: { name: 'a' } } } }),
    /at most one of token, basic, clientCertificate, sshKey and githubApp/,
  ],
  ['a Secret of another namespace', withGit({ proxy: { secretRef: { name: '../../b/secrets/s' } } }), /should match/],
  ['a Secret key that leads out', { ...minimal, webhook: { hmac: { secretRef: { name: 'a', key: '..' } } } }, /should match/],
  ['an interval below the minimum', { ...minimal, polling: { interval: '1ms' } }, /must be at least 5s/],
  ['an interval that is none', { ...minimal, polling: { interval: '1d' } }, /spec\.polling\.interval/],
  ['port 0', { ...minimal, gateway: { port: 0 } }, /spec\.gateway\.port/],
  ['port 70000', { ...minimal, gateway: { port: 70_000 } }, /spec\.gateway\.port/],
  ['no profile', { git, sync: { profiles: {} } }, /spec\.sync\.profiles/],
  [
    'too many long vars',
    { git, sync: { profiles: { a: { mappings: [mapping], vars: longVars }, b: { mappings: [mapping], vars: longVars } } } },
    /the vars of all profiles must have at most 65536 characters in total/,
  ],
  [
    'too many long vars in defaults',
    { git, sync: { ...sync, defaults: { vars: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`v${n}`, 'x'.repeat(4096)])) } } },
    /vars must have at most 65536 characters in total/,
  ],
  ['too many long patched values', patched(16, 1, 4096), /the mappings of all profiles must have at most 65536 characters in total/],
  [
    'long keys of patched values',
    profile({ mappings: [{ ...mapping, patches: [{ file: 'a', set: { ['x'.repeat(66_000)]: '' } }] }] }),
    /65536/,
  ],
  ['9 patched values in one patch', patched(1, 9, 1), /spec\.sync\.profiles\.default\.mappings\[0\]\.patches\[0\]\.set/],
  ['65 mappings', patched(65, 1, 1), /spec\.sync\.profiles\.default\.mappings/],
  ['a resource with a long name', { ...minimal, agent: { resources: { limits: { ['x'.repeat(300)]: 1 } } } }, /at most 253 characters/],
  ['an empty profile', profile({}), /a profile needs collections or mappings/],
  [
    'a profile name that is none',
    { git, sync: { profiles: { Default_1: { mappings: [mapping] } } } },
    /profile names must be at most 63 lower-case/,
  ],
  ['an absolute destination', profile({ mappings: [{ ...mapping, destination: '/etc' }] }), /must be relative/],
  ['a destination outside', profile({ mappings: [{ ...mapping, destination: 'a/../../b' }] }), /must be relative/],
  ['an unknown prune', profile({ mappings: [{ ...mapping, prune: 'some' }] }), /Unsupported value: "some"/],
  [
    'a capture without credentials',
    { ...minimal, capture: { auth: {} } },
    /one of token, basic, clientCertificate, sshKey and githubApp must be set/,
  ],
  [
    'a capture of two credentials',
    { ...minimal, capture: { auth: { ...pushToken, basic: { secretRef: { name: 'x' } } } } },
    /at most one of/,
  ],
  [
    'a capture with an ssh key over https',
    { ...minimal, capture: { auth: { sshKey: keyOfHost } } },
    /an https repository does not accept it/,
  ],
  [
    'a capture over http',
    { ...minimal, git: { repo: 'http://git.example/plant.git', ref: 'main' }, capture: { auth: pushToken } },
    /capture sends credentials/,
  ],
  [
    'a time without trigger: Drift',
    { ...minimal, capture: { quietPeriod: '10m', auth: pushToken } },
    /quietPeriod requires trigger: Drift/,
  ],
  [
    'changes left alone for seconds',
    { ...minimal, capture: { trigger: 'Drift', quietPeriod: '59s', auth: pushToken } },
    /must be at least 1m/,
  ],
  ['a branch for all gateways', { ...minimal, capture: { branch: 'captured/all', auth: pushToken } }, /spec\.capture\.branch/],
  [
    'a branch that is only a name of a gateway',
    { ...minimal, capture: { branch: '{{ gateway.name }}', auth: pushToken } },
    /capture\.branch/,
  ],
  ['101 percent', { ...minimal, sync: { ...sync, defaults: { maxDeletions: '101%' } } }, /must be a percentage/],
  ['neither a repository nor an artifact', { sync }, /exactly one of git and oci must be set/],
  ['a repository and an artifact', { git, oci: artifact, sync }, /exactly one of git and oci must be set/],
  ['a tag and a digest', withOci({ tag: 'v1', digest: `sha256:${'0'.repeat(64)}` }), /at most one of tag, semver and digest/],
  ['a digest that is none', withOci({ digest: 'sha256:1' }), /spec\.oci\.digest/],
  ['an artifact over https', withOci({ url: 'https://registry.example/plant' }), /must be oci:/],
  ['an artifact with its tag', withOci({ url: 'oci://registry.example/plant:v1' }), /must be oci:/],
  ['a password in the URL of an artifact', withOci({ url: 'oci://u:p@registry.example/plant' }), /must be oci:/],
  ['a registry that is a number', withOci({ url: 'oci://2130706433/plant' }), /must be oci:/],
  [
    'two logins',
    withOci({ auth: { basic: { secretRef: { name: 'a' } }, dockerConfig: { secretRef: { name: 'a' } } } }),
    /at most one of dockerConfig and basic may be set/,
  ],
  [
    'a login over http',
    withOci({ insecure: true, auth: { basic: { secretRef: { name: 'a' } } } }),
    /insecure cannot be combined with auth/,
  ],
  ['a capture into an artifact', { ...withOci({}), capture: { auth: pushToken } }, /capture requires a git repository/],
  ['webhooks of a repository', { ...withOci({}), webhook: { repo: 'https://git.example/x' } }, /webhook\.repo /],
  ['a syncPeriod of a second', { ...minimal, sync: { ...sync, defaults: { syncPeriod: '1s' } } }, /syncPeriod/],
  ['a syncPeriod of two hours', { ...minimal, sync: { ...sync, defaults: { syncPeriod: '2h' } } }, /must be at most 1h/],
]

void t.test(
  'the API server and the runtime accept and refuse the same specs, with messages that name the field',
  { timeout: 600_000 },
  async (t) => {
    if (!requires(t, 'git')) return
    const { kube, signal, apply, namespace } = await openWorld(t)
    await apply([gatewaySyncCrd(), syncReportCrd()])
    const where = await namespace('crds')
    const create = (name: string, spec: Spec) =>
      kube.create(gatewaySyncType, { apiVersion, kind: 'GatewaySync', metadata: { namespace: where, name }, spec }, signal)
    await until(async () => create('served', minimal).catch(() => undefined), 'the kind is served')
    const schema = gatewaySyncSpec({ allowLocal: false })

    for (const [index, [name, spec]] of accepted.entries()) {
      const object = await create(`good-${index}`, spec)
      t.ok(v.is(schema, spec), `the runtime accepts ${name}`)
      const { git: source, ...others } = v.parse(schema, spec)
      // Behind the schema an artifact has a source in the terms of git too.
      const parsed = spec['oci'] === undefined ? { git: source, ...others } : others
      t.strictSame(object.spec, parsed, `${name}: the defaults of both are the same`)
    }
    for (const [index, [name, spec, message]] of refused.entries()) {
      const error: unknown = await create(`bad-${index}`, spec).catch((thrown: unknown) => thrown)
      t.ok(error instanceof Fault && error.reason === 'Rejected', `${name}: refused`)
      containsText(t, error instanceof Error ? error.message : '', message, name)
      t.notOk(v.is(schema, spec), `the runtime refuses ${name}`)
    }
  },
)

void t.test('each CRD is small enough for a client-side kubectl apply', async (t) => {
  for (const crd of [gatewaySyncCrd(), syncReportCrd()]) t.ok(JSON.stringify(crd).length < 256 * 1024)
})
