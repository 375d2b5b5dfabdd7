/**
 * Known resource types: singletons, nested ones, and those that belong to one environment. The list is open: an unknown type is classified by
 * the place of its manifest. Pure.
 */

const opcua = 'com.inductiveautomation.opcua'
const cirrus = (module: string): string => `com.cirruslink.mqtt.${module}.gateway`

/** Types with exactly one resource in a gateway, by module. */
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

/** Singletons of `core` that a gateway creates at its first boot and that conflict with existing ones. */
export const firstBootSingletons: ReadonlySet<string> = new Set([
  'ignition/gateway-network-proxy-rules',
  'ignition/gateway-network-queue-settings',
  'ignition/quickstart',
])

/** In `core` it keeps the gateway from creating the OPC UA user source and connection. */
export const oneTimeType = `${opcua}/one-time`

/** In `external` these are hidden by the copies that the gateway makes in `core`. */
export const hiddenInExternal: ReadonlySet<string> = new Set(['ignition/security-properties', 'ignition/tag-type-definition'])

/** Types that belong in a deployment mode, with their names in messages. Remote tag providers are recognized by their settings. */
export const environmentTypes: ReadonlyMap<string, string> = new Map([
  ['ignition/database-connection', 'a database connection'],
  ['ignition/alarm-journal', 'an alarm journal'],
  ['ignition/gateway-network-incoming', 'a gateway network connection'],
  ['ignition/gateway-network-outgoing', 'a gateway network connection'],
  ['ignition/identity-provider', 'an identity provider'],
  ['ignition/user-source', 'a user source'],
])

/** Singletons that every gateway creates in `core` at its first boot, so a complete configuration contains them. */
export const coreSingletons: readonly string[] = [
  'ignition/gateway-network-settings',
  'ignition/general-alarm-settings',
  'ignition/security-levels',
  'ignition/security-properties',
  'ignition/system-properties',
]

/** Resources of those types that every gateway has from its first boot on. */
export const defaultResources: ReadonlySet<string> = new Set([
  'ignition/identity-provider/default',
  'ignition/user-source/default',
  'ignition/user-source/opcua-module',
  'ignition/user-source/temp',
])

/** Left column of the placement table: types that are the same everywhere. */
export const sharedTypes: ReadonlySet<string> = new Set([
  'ignition/tag-definition',
  'ignition/tag-type-definition',
  'ignition/translations',
])

/** Simulated devices are the same everywhere, other devices are not. */
export const deviceType = `${opcua}/device`

/** Too large and free of addresses: not searched for hosts and credentials. */
export const unsearchedTypes: ReadonlySet<string> = new Set(['ignition/images', 'ignition/tag-definition', 'ignition/tag-type-definition'])
