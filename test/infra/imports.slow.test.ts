/**
 * The typed constructs of imports/ write objects that the operator accepts, and match the current schemas.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import path from 'node:path'
import { App, Chart } from 'cdk8s'
import t from 'tap'
import * as v from 'valibot'
import { Certificate } from '../../imports/cert-manager.io.js'
import {
  GatewaySync,
  GatewaySyncSpecSyncProfilesMaxDeletions,
  GatewaySyncSpecValidationPolicy,
  SyncReport,
} from '../../imports/clustersync.io.js'
import { ServiceMonitor } from '../../imports/monitoring.coreos.com.js'
import { apiVersion, group } from '../../runtime/api/names.ts'
import { gatewaySyncSpec } from '../../runtime/api/schema/spec.ts'
import { matchObject } from '../support/assertions.ts'

type Written = { apiVersion: string; kind: string; metadata: object; spec: Record<string, unknown> }

const root = path.resolve(import.meta.dirname, '../..')

void t.test('the operator accepts a GatewaySync written with types', async (t) => {
  const chart = new Chart(new App(), 'plant', { namespace: 'plant', disableResourceNameHashes: true })
  const construct = new GatewaySync(chart, 'plant', {
    metadata: { name: 'plant' },
    spec: {
      git: { repo: 'https://git.example/plant.git', ref: 'main', auth: { token: { secretRef: { name: 'git', key: 'token' } } } },
      validation: { policy: GatewaySyncSpecValidationPolicy.WARN },
      sync: {
        defaults: { vars: { site: 'north' } },
        profiles: {
          default: {
            maxDeletions: GatewaySyncSpecSyncProfilesMaxDeletions.fromNumber(20),
            mappings: [{ source: 'projects', destination: 'projects' }],
          },
        },
      },
    },
  })
  const written = construct.toJson() as Written
  matchObject(t, written, { apiVersion, kind: 'GatewaySync', metadata: { name: 'plant', namespace: 'plant' } })
  matchObject(t, v.parse(gatewaySyncSpec({ allowLocal: false }), written.spec), {
    git: { repo: 'https://git.example/plant.git', ref: 'main', auth: { token: { secretRef: { name: 'git', key: 'token' } } } },
    validation: { policy: 'Warn' },
    sync: { defaults: { vars: { site: 'north' } }, profiles: { default: { maxDeletions: 20, mappings: [{ source: 'projects' }] } } },
  })
})

void t.test('every imported group has its kinds', async (t) => {
  t.strictSame(SyncReport.GVK, { apiVersion, kind: 'SyncReport' })
  t.strictSame(Certificate.GVK, { apiVersion: 'cert-manager.io/v1', kind: 'Certificate' })
  t.strictSame(ServiceMonitor.GVK, { apiVersion: 'monitoring.coreos.com/v1', kind: 'ServiceMonitor' })
})

void t.test('the generated constructs match the current schemas', { timeout: 600_000 }, async (t) => {
  const folder = t.testdir()
  // The compiler does not start with the test runner's loader, which every child process of a test inherits.
  const command = ['NODE_OPTIONS=', process.execPath, path.join(root, 'scripts/import.ts'), '--output', folder, group]
  const { status, stderr } = spawnSync('env', command, { encoding: 'utf8' })
  t.equal(status, 0, stderr)
  for (const file of [`crds/${group}.yaml`, `src/${group}.ts`, `${group}.js`, `${group}.d.ts`]) {
    const same = readFileSync(path.join(folder, file), 'utf8') === readFileSync(path.join(root, 'imports', file), 'utf8')
    t.ok(same, `imports/${file} is current; if not, run npm run import and commit the result`)
  }
})

void t.test('`npx cdk8s import` and `npm run import` write the same sources', { timeout: 600_000 }, async (t) => {
  const folder = t.testdir()
  for (const name of ['imports/crds', 'imports/src']) cpSync(path.join(root, name), path.join(folder, name), { recursive: true })
  cpSync(path.join(root, 'cdk8s.yaml'), path.join(folder, 'cdk8s.yaml'))
  const before = readFileSync(path.join(folder, 'cdk8s.yaml'), 'utf8')
  const written = (of: string): Record<string, string> => {
    const sources = path.join(of, 'imports/src')
    return Object.fromEntries(readdirSync(sources).map((name) => [name, readFileSync(path.join(sources, name), 'utf8')]))
  }
  for (const name of readdirSync(path.join(folder, 'imports/src'))) rmSync(path.join(folder, 'imports/src', name))
  const { status, stderr } = spawnSync(process.execPath, [path.join(root, 'node_modules/cdk8s-cli/bin/cdk8s'), 'import'], {
    cwd: folder,
    env: { PATH: process.env['PATH'] ?? '', CDK8S_CHECK_UPGRADE: 'false' },
    encoding: 'utf8',
  })
  t.equal(status, 0, stderr)
  t.strictSame(written(folder), written(root))
  t.equal(readFileSync(path.join(folder, 'cdk8s.yaml'), 'utf8'), before, 'cdk8s.yaml stays as it is')
})
