/**
 * The Service and the Ingress of the status page.
 */
import type * as kplus from 'cdk8s-plus-28'
import { Construct } from 'constructs'
import type { SharedProps } from './shared-props.ts'
import { createIngress } from './ingress.ts'
import { createService } from './service.ts'

/** Exposes the status page. Creates nothing if `statusPage.enabled` is false. */
export class StatusPage extends Construct {
  /** HTTPS with the certificate of all TLS ports, so an Ingress must connect to it with HTTPS. */
  readonly service: kplus.Service | undefined
  readonly ingress: kplus.Ingress | undefined

  constructor(scope: Construct, id: string, { names, values: { statusPage } }: SharedProps) {
    super(scope, id)
    if (!statusPage.enabled) return
    this.service = createService(this, names, {
      name: names.statusPageService,
      port: { name: 'https', port: statusPage.port, targetPort: 'status-page' },
      values: statusPage.service,
    })
    if (statusPage.ingress.enabled) this.ingress = createIngress(this, names, this.service, statusPage.ingress)
  }
}
