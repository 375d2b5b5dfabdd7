import t from 'tap'
import * as v from 'valibot'
import { readControllerConfig } from '../../runtime/config.ts'
import { Fault } from '../../runtime/fault.ts'
import { type ControllerSettingsInput, controllerSettings } from '../../runtime/settings.ts'

const given: ControllerSettingsInput = {
  namespace: 'operators',
  fullname: 'plant',
  source: { folder: '/var/lib/cluster-sync' },
  delivery: { url: 'https://plant-delivery.operators.svc:9445' },
  certificates: { kind: 'mounted', folder: '/etc/certificate' },
  dnsNames: ['plant-delivery.operators.svc'],
  injection: { enabled: true, webhookConfiguration: 'plant' },
  agent: { image: 'agent:1', imagePullPolicy: 'IfNotPresent', clusterRole: 'plant-agent' },
  receiver: { enabled: false },
  metrics: { enabled: true },
}

void t.test('the size of the volume for mirrors is read as bytes', async (t) => {
  const sizes = { '2Gi': 2 ** 31, '128e6': 128e6, '1.5Ki': 1536, '100': 100 }
  for (const [sizeLimit, bytes] of Object.entries(sizes)) {
    const { source } = v.parse(controllerSettings, { ...given, source: { ...given.source, sizeLimit } })
    t.equal(source.sizeLimit, bytes, sizeLimit)
  }
  t.equal(v.parse(controllerSettings, given).source.sizeLimit, 2 ** 31)
})

void t.test('a controller that is told to end answers for ten seconds more', async (t) => {
  t.equal(v.parse(controllerSettings, given).shutdownDelaySeconds, 10)
})

void t.test('a size that is none is refused by its key', async (t) => {
  for (const sizeLimit of ['2GB', '-1', '', '100m']) {
    const { issues = [] } = v.safeParse(controllerSettings, { ...given, source: { ...given.source, sizeLimit } })
    t.same(new Set(issues.map((issue) => v.getDotPath(issue))), new Set(['source.sizeLimit']), sizeLimit)
  }
})

void t.test('a key that no map keeps is refused, for a selector without it would select everything', async (t) => {
  for (const key of ['constructor', '__proto__', 'prototype']) {
    const settings = JSON.stringify(given).replace(/\}$/, `,"watchLabelSelector":{"matchLabels":{"${key}":"a"}}}`)
    t.throws(
      () => readControllerConfig({ CLUSTER_SYNC_SETTINGS: settings }),
      new Fault('InvalidConfiguration', `environment variable CLUSTER_SYNC_SETTINGS: "${key}" is no key`),
    )
  }
})
