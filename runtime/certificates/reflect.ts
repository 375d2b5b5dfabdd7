/**
 * Provides `Reflect.getMetadata`: @peculiar/x509 finds its algorithms through tsyringe, which refuses to load without it. Neither of them
 * writes metadata that this product needs, so it always returns none. Import before @peculiar/x509.
 */
const reflect = Reflect as { getMetadata?: unknown; getOwnMetadata?: unknown; defineMetadata?: unknown }

reflect.getMetadata ??= () => undefined
reflect.getOwnMetadata ??= () => undefined
reflect.defineMetadata ??= () => {}
