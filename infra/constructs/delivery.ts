/**
 * How agents fetch content from the controller.
 */
import type { ApiObject } from 'cdk8s'
import { k8s } from 'cdk8s-plus-28'
import { Construct } from 'constructs'
import { apiObject } from './api-object.ts'
import type { Installation } from './installation.ts'
import { serviceOf } from './service.ts'

/** Where agents get content from. */
export class Delivery extends Construct {
  readonly service: ApiObject

  constructor(scope: Construct, id: string, { names, values: { delivery } }: Installation) {
    super(scope, id)
    const port = { name: 'https', port: delivery.port, targetPort: 'delivery' }
    this.service = apiObject(this, 'service', k8s.KubeService, serviceOf(names, names.deliveryService, delivery.service, port, 'delivery'))
  }
}
