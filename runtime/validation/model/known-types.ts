/**
 * Known types of resources besides the singletons, and which of them an unknown name probably means. The list is open, because modules of other
 * vendors have their own types: only names that are close to a known one, or in an unlikely place, are reported. Pure.
 */
import { editDistance } from '../../platform/text/edit-distance.ts'
import { foldName } from '../../api/values.ts'
import { singletonTypes } from './resource-types.ts'

const vendor = 'com.inductiveautomation'
const cirrus = 'com.cirruslink.mqtt'

/** Types with one named folder per resource, by module. Observed in trees of gateways. */
const namedByModule: Readonly<Record<string, readonly string[]>> = {
  ignition: [
    'alarm-journal',
    'api-token',
    'audit-profile',
    'database-connection',
    'database-driver',
    'database-translator',
    'email-profile',
    'gateway-network-outgoing',
    'identity-provider',
    'images',
    'keyboard_layout',
    'opc-connection',
    'roster-config',
    'schedule',
    'secret-provider',
    'security-zone',
    'service-connector',
    'store-and-forward-engine',
    'tag-definition',
    'tag-group',
    'tag-provider',
    'tag-type-definition',
    'user-source',
  ],
  [`${vendor}.alarm-notification`]: ['alarm-notification-profile'],
  [`${vendor}.eam`]: ['agent-group', 'module-certificates', 'module-eulas'],
  [`${vendor}.historian`]: ['historian-provider'],
  [`${vendor}.opcua`]: ['device'],
  [`${vendor}.perspective`]: ['icons', 'themes'],
  [`${vendor}.sip-notification`]: ['script-settings'],
  [`${cirrus}.distributor.gateway`]: ['user'],
  [`${cirrus}.engine.gateway`]: [
    'custom-namespace',
    'custom-namespace-convert',
    'default-namespace',
    'default-namespace-convert',
    'namespace-server-set',
    'server',
    'server-set',
  ],
  [`${cirrus}.recorder.gateway`]: ['table'],
  [`${cirrus}.transmission.gateway`]: ['history-store', 'server', 'server-set', 'transmitter', 'uns-transmitter'],
}

/** Existing types that were not observed in any tree: the layout of their resources is unknown. */
const otherTypes: readonly string[] = [
  'ignition/gateway-network-incoming',
  'ignition/holiday',
  'ignition/metrics-dashboard',
  'ignition/oauth2-client',
  `${vendor}.eam/agent-management`,
  `${vendor}.eam/eam-tasks`,
  `${vendor}.eam/license-management`,
  `${vendor}.eam/remote-upgrade`,
  `${vendor}.mcp/server-config`,
  `${vendor}.opcua.drivers.bacnet/BacnetIpLocalDeviceConfig`,
  `${vendor}.perspective/fonts`,
]

/** `<module>/<type>` of every known type with named resources. */
export const namedTypes: ReadonlySet<string> = new Set(
  Object.entries(namedByModule).flatMap(([module, types]) => types.map((type) => `${module}/${type}`)),
)

/** Types with names below names. */
export const nestedTypes: ReadonlySet<string> = new Set(
  ['images', 'tag-definition', 'tag-group', 'tag-type-definition'].map((type) => `ignition/${type}`),
)

/** The unary types: their folders hold a `unary-resource.json`. */
export const unaryTypes: ReadonlySet<string> = new Set(['ignition/tag-definition', 'ignition/tag-type-definition'])

const known = new Map([...singletonTypes, ...namedTypes, ...otherTypes].map((type) => [foldName(type), type]))
const modules = new Map([...known.values()].map((type) => [foldName(moduleIn(type)), moduleIn(type)]))
/** Types of the platform, by their own name. */
const platformTypes = new Map([...known.values()].filter((type) => moduleIn(type) === 'ignition').map((type) => [typeIn(type), type]))

/** The probable meaning of `<module>/<type>` as a path below a collection; undefined if it is known or may exist. */
export function likelyPlace(module: string, type: string): string | undefined {
  const [foldedModule, foldedType] = [foldName(module), foldName(type)]
  const exact = known.get(`${foldedModule}/${foldedType}`)
  // Folders of modules and types are case-sensitive.
  if (exact !== undefined) return exact === `${module}/${type}` ? undefined : exact
  // A module one folder too deep.
  if (modules.has(foldedType)) return modules.get(foldedType)
  const ownModule = modules.get(foldedModule)
  if (ownModule === undefined) {
    // A type of the platform in the place of a module: the folder of the module is missing.
    const forgotten = platformTypes.get(foldedModule)
    if (forgotten !== undefined) return `${forgotten}/${type}`
    const meant = [...modules].find(([name]) => isNearModule(foldedModule, name) || isPartOfModule(foldedModule, name, foldedType))?.[1]
    return meant === undefined ? undefined : `${meant}/${type}`
  }
  const own = [...known].filter(([name]) => name.startsWith(`${foldedModule}/`))
  const near = own.find(([name]) => isNear(foldedType, typeIn(name), maxTypoShare))
  if (near !== undefined) return near[1]
  const elsewhere = [...known.values()].filter((name) => foldName(typeIn(name)) === foldedType)
  const isPlatform = ownModule === 'ignition' || elsewhere.some((name) => moduleIn(name) === 'ignition')
  return elsewhere.length === 1 && isPlatform ? elsewhere[0] : undefined
}

/** One wrong letter per this number of letters may be a typo; at most two. */
const maxTypoShare = 5
const maxModuleTypoShare = 4
const maxTypos = 2

function isNearModule(name: string, other: string): boolean {
  if (other.endsWith(`.${name}`)) return true
  const [segments, others] = [name.split('.'), other.split('.')]
  return segments.length === others.length && segments.every((each, index) => isNear(each, others[index] ?? '', maxModuleTypoShare))
}

/** A shortened or extended module name, with a type that the module has. */
function isPartOfModule(name: string, other: string, type: string): boolean {
  const isPart = other.startsWith(name) || (name.startsWith(other) && !name.startsWith(`${other}.`))
  return isPart && name.startsWith(`${vendor}.`) && known.has(`${other}/${type}`)
}

function isNear(name: string, other: string, share: number): boolean {
  const most = Math.min(maxTypos, Math.floor(other.length / share))
  return name === other || (Math.abs(name.length - other.length) <= most && editDistance(name, other) <= most)
}

/** The entry of `names` that is closest to `name`. */
export function nearest(name: string, names: readonly string[]): string | undefined {
  return name.length > maxComparedLength ? undefined : names.slice(0, maxCompared).find((other) => isNear(name, other, maxTypoShare))
}

const maxCompared = 1_000
const maxComparedLength = 64

function moduleIn(type: string): string {
  return type.slice(0, type.indexOf('/'))
}

function typeIn(type: string): string {
  return type.slice(type.indexOf('/') + 1)
}
