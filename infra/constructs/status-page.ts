/**
 * The Service and the Ingress of the status page.
 */
import type { ApiObject } from 'cdk8s'
import { k8s } from 'cdk8s-plus-28'
import { Construct } from 'constructs'
import { and } from '../helm/combinators.ts'
import { apiObjectWhen } from './api-object.ts'
import { ingressOf } from './ingress.ts'
import type { Installation } from './installation.ts'
import { serviceOf } from './service.ts'

/** How people reach the status page; no object while `statusPage.enabled` is false. */
export class StatusPage extends Construct {
  /** Serves HTTPS with the certificate of every secure port; an Ingress in front of it has to speak HTTPS to it. */
  readonly service: ApiObject | undefined
  readonly ingress: ApiObject | undefined

  constructor(scope: Construct, id: string, { names, values }: Installation) {
    super(scope, id)
    const { enabled, port, service, ingress } = values.statusPage
    const https = serviceOf(names, names.statusPageService, service, { name: 'https', port, targetPort: 'status-page' })
    this.service = apiObjectWhen(enabled, this, 'service', k8s.KubeService, https)
    const leading = ingressOf(names, names.statusPageService, ingress, 'https')
    this.ingress = apiObjectWhen(and(enabled, ingress.enabled), this, 'ingress', k8s.KubeIngress, leading)
  }
}
