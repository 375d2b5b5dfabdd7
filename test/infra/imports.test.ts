/**
 * The typed constructs of imports/ write what the operator reads, and are those of the current schemas.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
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
import { apiVersion, group } from '../../runtime/gatewaysync/names.ts'
import { gatewaySyncSpec } from '../../runtime/gatewaysync/schema/spec.ts'

type Written = { apiVersion: string; kind: string; metadata: object; spec: Record<string, unknown> }

const root = path.resolve(import.meta.dirname, '../..')

void t.test('a GatewaySync that is written with types is one that the operator accepts', async (t) => {
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
  t.match(written, { apiVersion, kind: 'GatewaySync', metadata: { name: 'plant', namespace: 'plant' } })
  t.match(v.parse(gatewaySyncSpec({ allowLocal: false }), written.spec), {
    git: { repo: 'https://git.example/plant.git', ref: 'main', auth: { token: { secretRef: { name: 'git', key: 'token' } } } },
    validation: { policy: 'Warn' },
    sync: { defaults: { vars: { site: 'north' } }, profiles: { default: { maxDeletions: 20, mappings: [{ source: 'projects' }] } } },
  })
})

void t.test('every imported group has its kinds', async (t) => {
  t.same(SyncReport.GVK, { apiVersion, kind: 'SyncReport' })
  t.same(Certificate.GVK, { apiVersion: 'cert-manager.io/v1', kind: 'Certificate' })
  t.same(ServiceMonitor.GVK, { apiVersion: 'monitoring.coreos.com/v1', kind: 'ServiceMonitor' })
})

void t.test('our constructs are those of the current schemas', { timeout: 60_000 }, async (t) => {
  const folder = t.testdir()
  // The compiler does not start below the test runner's loader, which every child process of a test inherits.
  const command = ['NODE_OPTIONS=', process.execPath, path.join(root, 'scripts/import.ts'), folder, group]
  const { status, stderr } = spawnSync('env', command, { encoding: 'utf8' })
  t.equal(status, 0, stderr)
  for (const file of [`src/${group}.ts`, `${group}.js`, `${group}.d.ts`]) {
    const same = readFileSync(path.join(folder, file), 'utf8') === readFileSync(path.join(root, 'imports', file), 'utf8')
    t.ok(same, `imports/${file} is current; if not, run npm run import and commit the result`)
  }
})
