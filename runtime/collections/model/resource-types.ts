/**
 * What is known of resource types: which exist once in a gateway, which nest, which belong to one environment. The list is open: what is
 * not in it is judged by where its manifest stands. Pure.
 */

const opcua = 'com.inductiveautomation.opcua'
const cirrus = (module: string): string => `com.cirruslink.mqtt.${module}.gateway`

/** Types of which a gateway has exactly one resource, by module. */
const singletonsByModule: Readonly<Record<string, readonly string[]>> = {
  ignition: [
    'cobranding',
    'edge-sync-settings',
    'edge-system-properties',
    'gateway-network-proxy-rules',
    'gateway-network-queue-settings',
    'gateway-network-settings',
    'general-alarm-settings',
    'homepage-notes',
    'local-system-properties',
    'quickstart',
    'security-levels',
    'security-properties',
    'system-properties',
    'translations',
  ],
  [opcua]: ['access-control', 'client-keystore', 'one-time', 'server-config', 'server-keystore', 'uuid'],
  'com.inductiveautomation.eam': ['event-thresholds', 'module-settings'],
  'com.inductiveautomation.sfc': ['chart-settings'],
  [cirrus('engine')]: ['general', 'namespace-file'],
  [cirrus('transmission')]: ['general'],
  [cirrus('distributor')]: ['general'],
  [cirrus('recorder')]: ['general'],
}

/** `<module>/<type>` of every known singleton. */
export const singletonTypes: ReadonlySet<string> = new Set(
  Object.entries(singletonsByModule).flatMap(([module, types]) => types.map((type) => `${module}/${type}`)),
)

/** Singletons that the gateway itself keeps in `local`; no other collection needs to hold them. */
export const localSingletons: ReadonlySet<string> = new Set([
  'ignition/local-system-properties',
  `${opcua}/client-keystore`,
  `${opcua}/server-keystore`,
  `${opcua}/uuid`,
])

/** Singletons of `core` that a gateway creates at its first boot and then finds in its way. */
export const firstBootSingletons: ReadonlySet<string> = new Set([
  'ignition/gateway-network-proxy-rules',
  'ignition/gateway-network-queue-settings',
  'ignition/quickstart',
])

/** In `core` it keeps the gateway from creating the OPC UA user source and connection. */
export const oneTimeType = `${opcua}/one-time`

/** In `external` these are hidden by the copies that the gateway makes in `core`. */
export const hiddenInExternal: ReadonlySet<string> = new Set(['ignition/security-properties', 'ignition/tag-type-definition'])

/** Right column of the placement table: what differs between environments. */
export const environmentTypes: ReadonlySet<string> = new Set([
  'ignition/database-connection',
  'ignition/alarm-journal',
  'ignition/gateway-network-incoming',
  'ignition/gateway-network-outgoing',
  'ignition/identity-provider',
  'ignition/user-source',
])

/** Resources of those types that every gateway has from its first boot on. */
export const defaultResources: ReadonlySet<string> = new Set([
  'ignition/identity-provider/default',
  'ignition/user-source/default',
  'ignition/user-source/opcua-module',
  'ignition/user-source/temp',
])

/** Tag providers are environment-specific only when they are remote. */
export const tagProviderType = 'ignition/tag-provider'

/** Left column of the placement table: what is the same everywhere. */
export const sharedTypes: ReadonlySet<string> = new Set([
  'ignition/tag-definition',
  'ignition/tag-type-definition',
  'ignition/translations',
])

/** Simulated devices are the same everywhere, other devices are not. */
export const deviceType = `${opcua}/device`

/** Too large and free of addresses: not searched for hosts and credentials. */
export const unsearchedTypes: ReadonlySet<string> = new Set(['ignition/images', 'ignition/tag-definition', 'ignition/tag-type-definition'])
