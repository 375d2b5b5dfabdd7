import t from 'tap'
import { Fault } from '../../../runtime/fault.ts'
import { parseStandaloneSync, parseTargets, type TargetOptions } from '../../../runtime/standalone/settings.ts'

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

void t.test('a file holds a GatewaySync as a cluster would take it, with its defaults applied', async (t) => {
  t.equal(sync.namespace, 'default')
  t.equal(sync.name, 'plant')
  t.equal(sync.spec.polling.interval, '60s')
  t.equal(sync.spec.sync.profiles['default']?.mappings?.[0]?.type, 'dir')
})

void t.test('what is not accepted is refused with the file, the key and the cause', async (t) => {
  const rows: [string, string, RegExp][] = [
    ['kind: GatewaySync', 'kind: Gateway', /gs\.yaml: kind: .*GatewaySync/],
    ['ref: main', 'ref: ""', /gs\.yaml: spec\.git\.ref: must not be empty/],
    ['/srv/plant.git', 'plant.git', /gs\.yaml: spec\.git\.repo: "plant\.git" is a relative path; write it from \/ on/],
    ['ref: main', 'rev: main', /gs\.yaml: spec\.git\.ref: is missing$/],
    ['ref: main', 'ref: main, rev: x', /gs\.yaml: unknown key spec\.git\.rev; did you mean "ref"\?/],
    ['ref: main', 'ref: main, colour: red', /gs\.yaml: unknown key spec\.git\.colour$/],
    [
      'destination: projects',
      'destination: projects, purge: all',
      /unknown key spec\.sync\.profiles\.default\.mappings\[0\]\.purge; did you mean "prune"\?/,
    ],
    // What programs that read YAML 1.1 make of `on: Drift`.
    [
      'sync:\n',
      'capture: {"true": Drift, auth: {token: {secretRef: {name: a, key: b}}}}\n  sync:\n',
      /unknown key spec\.capture\.true; did you mean "on"\? .*: write it in quotes$/,
    ],
    ['metadata: {name: plant}', 'metadata: {name: Plant_1}', /metadata\.name: must be lower-case/],
    ['metadata: {name: plant}', 'metadata: {name: plant', /not YAML: .*[^:]$/],
    ['ref: main', 'ref: 10', /spec\.git\.ref: must be text, and is 10$/],
    ['sync:\n', 'polling: {interval: 10}\n  sync:\n', /spec\.polling\.interval: must be text, and is 10$/],
    ['sync:\n', 'validation: {policy: Report}\n  sync:\n', /spec\.validation\.policy: must be Enforce or Warn or Off, and is "Report"$/],
    ['sync:\n', 'paused: maybe\n  sync:\n', /spec\.paused: must be true or false, and is "maybe"$/],
    ['kind: GatewaySync', 'kind GatewaySync', /not YAML: a key lacks the colon behind it, as in "ref: main", at line \d+, column \d+$/],
    ['  git:', '\tgit:', /not YAML: a tab stands at the beginning of a line; indent with blanks, at line \d+, column \d+$/],
    [text, '', /^InvalidConfiguration: gs\.yaml: is empty; expected one GatewaySync$/],
    [text, 'plant', /holds no GatewaySync, but "plant"$/],
    [text, `${text}---${text}`, /holds several documents; write one GatewaySync in each file$/],
    ['destination: projects', 'destination: ../projects', /must be relative/],
  ]
  for (const [from, to, expected] of rows) {
    const message = messageOf(() => parseStandaloneSync(text.replace(from, to), 'gs.yaml'))
    t.match(message, /^InvalidConfiguration: /, to)
    t.match(message, expected, to)
  }
})

void t.test('the short form is one target, the long form any number', async (t) => {
  t.same(parseTargets({ ...none, data: 'gw', gateway: 'http://localhost:8088' }, sync, '/srv'), [
    { name: 'plant', dataDir: '/srv/gw', gatewayUrl: 'http://localhost:8088', profile: 'default', mode: undefined, labels: {} },
  ])
  const target = ['name=a,data=/a,mode=dev', 'name=b,data=b,profile=edge,gateway=https://gw:8043']
  t.same(parseTargets({ ...none, target }, sync, '/srv'), [
    { name: 'a', dataDir: '/a', gatewayUrl: undefined, profile: 'default', mode: 'dev', labels: {} },
    { name: 'b', dataDir: '/srv/b', gatewayUrl: 'https://gw:8043', profile: 'edge', mode: undefined, labels: {} },
  ])
  t.equal(parseTargets({ ...none, target: ['name=a,data=/a'], profile: 'edge' }, sync, '/')[0]?.profile, 'edge')
})

void t.test('a target has labels as a pod has', async (t) => {
  const labelsOf = (text: string) => parseTargets({ ...none, target: [`name=a,data=/a${text}`] }, sync, '/')[0]?.labels
  t.same(labelsOf(',label=line:test,label=plant.example/area:North_1,label=spare:'), {
    line: 'test',
    'plant.example/area': 'North_1',
    spare: '',
  })
})

void t.test('a target that cannot be meant is refused with its own words', async (t) => {
  const rows: [Partial<TargetOptions>, RegExp][] = [
    [{}, /nowhere to write to/],
    [{ data: '/a', target: ['name=a,data=/a'] }, /either --data or --target/],
    [{ target: ['name=a,data=/a'], gateway: 'http://x' }, /--gateway belongs to --data/],
    [{ target: ['name=a'] }, /data=<folder> is needed/],
    [{ target: ['data=/a'] }, /name is needed/],
    [{ target: ['name=a,data=/a,mod=dev'] }, /"mod=dev" is none of/],
    [{ target: ['name=a,data=/a,label=line'] }, /"line" is no label; write label=<key>:<value>/],
    [{ target: ['name=a,data=/a,label=line:a:b'] }, /"line:a:b" is no label/],
    [{ target: ['name=a,data=/a,label=-line:a'] }, /"-line:a" is no label/],
    [{ target: ['name=a,data=/a,label=line:a,label=line:b'] }, /label line is given twice/],
    [{ target: ['name=a,name=b,data=/a'] }, /name is given twice/],
    [{ target: ['name=a,data=/a,gateway=ftp://x'] }, /not an http or https URL/],
    [{ target: ['name=a,data=/a', 'name=a,data=/b'] }, /two targets have the name "a"/],
    [{ target: ['name=a,data=/a', 'name=b,data=/a/'] }, /two targets have the data folder "\/a"/],
    [{ data: '/a', profile: 'nope' }, /profile "nope" does not exist; spec\.sync\.profiles has: default, edge/],
  ]
  for (const [options, expected] of rows)
    t.match(
      messageOf(() => parseTargets({ ...none, ...options }, sync, '/')),
      expected,
    )
})
