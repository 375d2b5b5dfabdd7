/**
 * The Service from which agents fetch content.
 */
import type * as kplus from 'cdk8s-plus-28'
import { Construct } from 'constructs'
import type { SharedProps } from './shared-props.ts'
import { createService } from './service.ts'

/** Configured by the values of `delivery`, which is also the name of the port in the container; that of the Service is `https`. */
export class ContentServer extends Construct {
  readonly service: kplus.Service

  constructor(scope: Construct, id: string, { names, values: { delivery } }: SharedProps) {
    super(scope, id)
    this.service = createService(this, names, {
      name: names.deliveryService,
      port: { name: 'https', port: delivery.port, targetPort: 'delivery' },
      component: 'delivery',
      values: delivery.service,
    })
  }
}
