/**
 * @peculiar/x509 finds its algorithms through tsyringe, which refuses to load where `Reflect.getMetadata` is missing. Neither of them
 * writes any metadata that this product could need, so "there is none" is the whole answer. Import before @peculiar/x509.
 */
const reflect = Reflect as { getMetadata?: unknown; getOwnMetadata?: unknown; defineMetadata?: unknown }

reflect.getMetadata ??= () => undefined
reflect.getOwnMetadata ??= () => undefined
reflect.defineMetadata ??= () => {}
