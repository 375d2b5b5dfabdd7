/**
 * The source of the certificate of the TLS ports, and its key on renewal.
 */
import t from 'tap'
import type { ValuesInput } from '../../../infra/values.ts'
import { containsText, lacksText, matchObject } from '../../support/assertions.ts'
import { deploymentOf, fullname, objectsOf, one, settingsOf } from '../installed.ts'

void t.test('the authority of cert-manager keeps its key on renewal, the leaf certificates do not', async (t) => {
  const rotation = (name: string): unknown => {
    const { spec } = objectsOf({}).find(({ kind, metadata }) => kind === 'Certificate' && metadata.name === name) as {
      spec?: { privateKey: { rotationPolicy?: string } }
    }
    return spec?.privateKey.rotationPolicy
  }
  t.equal(rotation(`${fullname}-ca`), 'Never')
  t.equal(rotation(`${fullname}-certificate`), 'Always')
})

void t.test("the user's Secret replaces every generated certificate", async (t) => {
  const values: ValuesInput = { webhook: { existingSecret: 'own-tls' }, serviceMonitor: { enabled: true } }
  for (const certManager of [{ enabled: true }, { enabled: false }]) {
    const objects = objectsOf({ ...values, certManager })
    t.strictSame(
      objects.filter(({ kind }) => kind === 'Issuer' || kind === 'Certificate'),
      [],
    )
    const { certificates } = settingsOf(objects)
    matchObject(t, certificates, { kind: 'mounted', writesCaBundle: true })
    const { volumes, containers } = deploymentOf(objects).spec.template.spec
    matchObject(t, volumes[1], { name: 'certificate', secret: { secretName: 'own-tls' } })
    matchObject(t, containers[0], {
      volumeMounts: [{}, { name: 'certificate', mountPath: certificates.kind === 'mounted' ? certificates.folder : '' }, { name: 'tmp' }],
    })
    t.notOk('annotations' in one(objects, 'MutatingWebhookConfiguration').metadata, 'cert-manager is not asked to inject anything')
    matchObject(t, one(objects, 'ServiceMonitor').spec.endpoints, [{ tlsConfig: { ca: { secret: { name: 'own-tls' } } } }])
    const rules = JSON.stringify([one(objects, 'ClusterRole', `${fullname}-controller`), one(objects, 'Role')].map(({ rules }) => rules))
    containsText(t, rules, 'mutatingwebhookconfigurations')
    lacksText(t, rules, 'own-tls')
  }
  const { certificates } = settingsOf(objectsOf({}))
  t.equal('writesCaBundle' in certificates && certificates.writesCaBundle, false)
})
