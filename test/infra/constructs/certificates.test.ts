/**
 * Who makes the certificate of the secure ports, and what becomes of it when it is renewed.
 */
import t from 'tap'
import type { ValuesInput } from '../../../infra/values.ts'
import { deploymentOf, fullname, objectsOf, one, settingsOf } from '../installed.ts'

void t.test('an authority by cert-manager keeps its key when it is renewed, its leaves do not', async (t) => {
  const rotation = (name: string): unknown => {
    const { spec } = objectsOf({}).find(({ kind, metadata }) => kind === 'Certificate' && metadata.name === name) as {
      spec?: { privateKey: { rotationPolicy?: string } }
    }
    return spec?.privateKey.rotationPolicy
  }
  t.equal(rotation(`${fullname}-ca`), 'Never')
  t.equal(rotation(`${fullname}-certificate`), 'Always')
})

void t.test('a Secret of the user takes the place of every certificate that we make', async (t) => {
  const values: ValuesInput = { webhook: { existingSecret: 'own-tls' }, serviceMonitor: { enabled: true } }
  for (const certManager of [{ enabled: true }, { enabled: false }]) {
    const objects = objectsOf({ ...values, certManager })
    t.same(
      objects.filter(({ kind }) => kind === 'Issuer' || kind === 'Certificate'),
      [],
    )
    const { certificates } = settingsOf(objects)
    t.match(certificates, { kind: 'mounted', tellsWebhook: true })
    const { volumes, containers } = deploymentOf(objects).spec.template.spec
    t.match(volumes[1], { name: 'certificate', secret: { secretName: 'own-tls' } })
    t.match(containers[0], {
      volumeMounts: [{}, { name: 'certificate', mountPath: certificates.kind === 'mounted' ? certificates.folder : '' }],
    })
    t.notOk('annotations' in one(objects, 'MutatingWebhookConfiguration').metadata, 'cert-manager is not asked to inject anything')
    t.match(one(objects, 'ServiceMonitor').spec.endpoints, [{ tlsConfig: { ca: { secret: { name: 'own-tls' } } } }])
    const rules = JSON.stringify([one(objects, 'ClusterRole', `${fullname}-controller`), one(objects, 'Role')].map(({ rules }) => rules))
    t.match(rules, 'mutatingwebhookconfigurations')
    t.notMatch(rules, 'own-tls')
  }
  t.notMatch(settingsOf(objectsOf({})).certificates, { tellsWebhook: true })
})
