import t from 'tap'
import { Fault } from '../../../runtime/platform/fault.ts'
import { parseStandaloneSync, parseTargets, type TargetOptions } from '../../../runtime/standalone/settings.ts'
import { containsText } from '../../support/assertions.ts'

const text = `
apiVersion: clustersync.io/v1alpha1
kind: GatewaySync
metadata: {name: plant}
spec:
  git: {repo: /srv/plant.git, ref: main}
  sync:
    profiles:
      default: {mappings: [{source: projects, destination: projects}]}
      edge: {collections: {root: resources}}
`
const sync = parseStandaloneSync(text, 'gs.yaml')
const none: TargetOptions = { target: [], data: undefined, gateway: undefined, profile: undefined }

function messageOf(work: () => unknown): string {
  try {
    work()
  } catch (error) {
    if (error instanceof Fault) return `${error.reason}: ${error.message}`
    throw error
  }
  return 'nothing was thrown'
}

void t.test('a file contains a GatewaySync as in a cluster, with defaults applied', async (t) => {
  t.equal(sync.namespace, 'default')
  t.equal(sync.name, 'plant')
  t.equal(sync.spec.polling.interval, '60s')
  t.equal(sync.spec.sync.profiles['default']?.mappings?.[0]?.type, 'Directory')
})

void t.test('an invalid file is refused with the file, key and cause', async (t) => {
  const rows: [string, string, RegExp][] = [
    ['kind: GatewaySync', 'kind: Gateway', /gs\.yaml: kind: .*GatewaySync/],
    ['ref: main', 'ref: ""', /gs\.yaml: spec\.git\.ref: must not be empty/],
    ['/srv/plant.git', 'plant.git', /gs\.yaml: spec\.git\.repo: must be a URL or an absolute path, not "plant\.git"$/],
    ['ref: main', 'ref: main, rev: x', /gs\.yaml: unknown key spec\.git\.rev \(did you mean "ref"\?\)$/],
    [
      'ref: main}\n  sync:\n',
      'reff: main}\n  paused: maybe\n  sync:\n',
      /gs\.yaml: spec\.paused: must be true or false, not "maybe"; unknown key spec\.git\.reff \(did you mean "ref"\?\)$/,
    ],
    ['ref: main', 'ref: main, colour: red', /gs\.yaml: unknown key spec\.git\.colour$/],
    [
      'destination: projects',
      'destination: projects, purge: all',
      /unknown key spec\.sync\.profiles\.default\.mappings\[0\]\.purge \(did you mean "prune"\?\)$/,
    ],
    ['metadata: {name: plant}', 'metadata: {name: Plant_1}', /metadata\.name: must be lower-case/],
    ['metadata: {name: plant}', 'metadata: {name: plant', /invalid YAML: .*[^:]$/],
    ['ref: main', 'ref: 10', /spec\.git\.ref: must be a string, not 10$/],
    ['sync:\n', 'polling: {interval: 10}\n  sync:\n', /spec\.polling\.interval: must be a string, not 10$/],
    ['sync:\n', 'validation: {policy: Report}\n  sync:\n', /spec\.validation\.policy: must be Enforce, Warn or Off, not "Report"$/],
    ['sync:\n', 'paused: maybe\n  sync:\n', /spec\.paused: must be true or false, not "maybe"$/],
    ['kind: GatewaySync', 'kind GatewaySync', /invalid YAML: a key needs a colon after it, as in "ref: main", at line \d+, column \d+$/],
    ['  git:', '\tgit:', /invalid YAML: a line begins with a tab; indent with spaces, at line \d+, column \d+$/],
    [text, '', /^InvalidConfiguration: gs\.yaml: is empty; expected one GatewaySync$/],
    [text, 'plant', /contains "plant", not a GatewaySync$/],
    [text, `${text}---${text}`, /contains several documents; write one GatewaySync in each file$/],
    ['destination: projects', 'destination: ../projects', /must be relative/],
  ]
  for (const [from, to, expected] of rows) {
    const message = messageOf(() => parseStandaloneSync(text.replace(from, to), 'gs.yaml'))
    t.match(message, /^InvalidConfiguration: /, to)
    containsText(t, message, expected, to)
  }
})

void t.test('the short form defines one target, the long form any number', async (t) => {
  t.strictSame(parseTargets({ ...none, data: 'gw', gateway: 'http://localhost:8088' }, sync, '/srv'), [
    { name: 'plant', dataDir: '/srv/gw', gatewayUrl: 'http://localhost:8088', profile: 'default', mode: undefined, labels: {} },
  ])
  const target = ['name=a,data=/a,mode=dev', 'name=b,data=b,profile=edge,gateway=https://gw:8043']
  t.strictSame(parseTargets({ ...none, target }, sync, '/srv'), [
    { name: 'a', dataDir: '/a', gatewayUrl: undefined, profile: 'default', mode: 'dev', labels: {} },
    { name: 'b', dataDir: '/srv/b', gatewayUrl: 'https://gw:8043', profile: 'edge', mode: undefined, labels: {} },
  ])
  t.equal(parseTargets({ ...none, target: ['name=a,data=/a'], profile: 'edge' }, sync, '/')[0]?.profile, 'edge')
})

void t.test('a target has labels like a pod', async (t) => {
  const labelsOf = (text: string) => parseTargets({ ...none, target: [`name=a,data=/a${text}`] }, sync, '/')[0]?.labels
  t.strictSame(labelsOf(',label=line:test,label=plant.example/area:North_1,label=spare:'), {
    line: 'test',
    'plant.example/area': 'North_1',
    spare: '',
  })
})

void t.test('an invalid target is refused with a specific message', async (t) => {
  const rows: [Partial<TargetOptions>, RegExp][] = [
    [{}, /no target: specify/],
    [{ data: '/a', target: ['name=a,data=/a'] }, /either --data or --target/],
    [{ target: ['name=a,data=/a'], gateway: 'http://x' }, /--gateway needs --data/],
    [{ target: ['name=a'] }, /data=<folder> is required/],
    [{ target: ['data=/a'] }, /name is required/],
    [{ target: ['name=a,data=/a,mod=dev'] }, /"mod=dev" is not one of/],
    [{ target: ['name=a,data=/a,label=line'] }, /"line" is not a valid label; write label=<key>:<value>/],
    [{ target: ['name=a,data=/a,label=line:a:b'] }, /"line:a:b" is not a valid label/],
    [{ target: ['name=a,data=/a,label=-line:a'] }, /"-line:a" is not a valid label/],
    [{ target: ['name=a,data=/a,label=line:a,label=line:b'] }, /label line is given twice/],
    [{ target: ['name=a,name=b,data=/a'] }, /name is given twice/],
    [{ target: ['name=a,data=/a,gateway=ftp://x'] }, /not an http or https URL/],
    [{ target: ['name=a,data=/a', 'name=a,data=/b'] }, /two targets have the name "a"/],
    [{ target: ['name=a,data=/a', 'name=b,data=/a/'] }, /two targets have the data directory "\/a"/],
    [{ data: '/a', profile: 'nope' }, /profile "nope" does not exist; spec\.sync\.profiles has: default, edge/],
  ]
  for (const [options, expected] of rows)
    containsText(
      t,
      messageOf(() => parseTargets({ ...none, ...options }, sync, '/')),
      expected,
    )
})
