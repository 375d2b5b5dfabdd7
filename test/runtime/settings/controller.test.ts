import t from 'tap'
import * as v from 'valibot'
import { readControllerConfig } from '../../../runtime/settings/environment.ts'
import { Fault } from '../../../runtime/platform/fault.ts'
import { type ControllerSettingsInput, controllerSettings } from '../../../runtime/settings/controller.ts'
import { throwsError } from '../../support/assertions.ts'

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

void t.test('the size limit of the mirror volume is parsed as bytes', async (t) => {
  const sizes = { '2Gi': 2 ** 31, '128e6': 128e6, '1.5Ki': 1536, '100': 100 }
  for (const [sizeLimit, bytes] of Object.entries(sizes)) {
    const { source } = v.parse(controllerSettings, { ...given, source: { ...given.source, sizeLimit } })
    t.equal(source.sizeLimit, bytes, sizeLimit)
  }
  t.equal(v.parse(controllerSettings, given).source.sizeLimit, 2 ** 31)
})

void t.test('the default shutdown delay is ten seconds', async (t) => {
  t.equal(v.parse(controllerSettings, given).shutdownDelaySeconds, 10)
})

void t.test('an invalid size is refused with its key', async (t) => {
  for (const sizeLimit of ['2GB', '-1', '', '100m']) {
    const { issues = [] } = v.safeParse(controllerSettings, { ...given, source: { ...given.source, sizeLimit } })
    t.strictSame(new Set(issues.map((issue) => v.getDotPath(issue))), new Set(['source.sizeLimit']), sizeLimit)
  }
})

void t.test('a prototype key is refused, because a selector that lost it would match everything', async (t) => {
  for (const key of ['constructor', '__proto__', 'prototype']) {
    const settings = JSON.stringify(given).replace(/\}$/, `,"watchLabelSelector":{"matchLabels":{"${key}":"a"}}}`)
    throwsError(
      t,
      () => readControllerConfig({ CLUSTER_SYNC_SETTINGS: settings }),
      new Fault('InvalidConfiguration', `environment variable CLUSTER_SYNC_SETTINGS: "${key}" is not a key`),
    )
  }
})
