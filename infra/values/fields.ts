/**
 * Schemas of values, with the formats that the API server enforces. Pure.
 */
import * as v from 'valibot'
import { quantityPattern } from '../../runtime/api/quantity.ts'
import { durationPattern } from './duration.ts'

/** RFC 1123 label, for namespaces and pod volumes. */
const labelPattern = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/
/** RFC 1035 label, for parts of Service names, which begin with a letter. */
const serviceLabelPattern = /^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/
const emptyOr = (pattern: RegExp): RegExp => new RegExp(`^(?:${pattern.source.slice(1, -1)})?$`)
/** RFC 1123 subdomain, for the names of most objects. */
const subdomainPattern = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/
const subdomain = subdomainPattern.source.slice(1, -1)
const labelValuePattern = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/

const labelWords = 'lower-case letters, digits and "-", at most 63 characters, beginning and ending with a letter or digit'

/** Whether a text is a valid Service name (RFC 1035 label). */
export function isServiceLabel(name: string): boolean {
  return serviceLabelPattern.test(name)
}

/** Whether a text is a valid namespace name (RFC 1123 label). */
export function isNamespaceName(name: string): boolean {
  return labelPattern.test(name)
}

export const text = (description: string, defaultValue: string) => v.optional(v.pipe(v.string(), v.description(description)), defaultValue)
const matching = (description: string, pattern: RegExp, message: string, defaultValue: string) =>
  v.optional(v.pipe(v.string(), v.regex(pattern, message), v.description(description)), defaultValue)

/** A bearer token that is valid in an HTTP header; empty: none. */
export const bearerToken = (description: string) =>
  matching(description, /^[!-~]*$/, 'must contain only visible ASCII characters, without spaces', '')

/** Part of the names of objects; empty: not overridden. */
export const namePart = (description: string) =>
  matching(
    description,
    emptyOr(serviceLabelPattern),
    'must be a DNS label: lower-case letters, digits and "-", at most 63 characters, beginning with a letter',
    '',
  )
const label = (named: string) => v.pipe(v.string(), v.regex(labelPattern, `must be the name of ${named}: ${labelWords}`))
export const namespace = label('a namespace')
const volumeName = label('a volume')
export const notificationReceiver = label('a notification receiver')
export const clusterName = label('a cluster')
export const optionalNamespace = (description: string) =>
  matching(description, emptyOr(labelPattern), `must be empty or the name of a namespace: ${labelWords}`, '')

const objectNameMessage = 'must be the name of an object: lower-case letters, digits, "-" and "."'
/** The name of an object of most kinds (RFC 1123 subdomain). */
export const objectName = v.pipe(v.string(), v.maxLength(253), v.regex(subdomainPattern, objectNameMessage))
export const optionalObjectName = (description: string) => matching(description, emptyOr(subdomainPattern), objectNameMessage, '')
const dataKeyPattern = /^[-._a-zA-Z0-9]{1,253}$/
const dataKeyMessage = 'must be a key of a Secret: letters, digits, "-", "_" and "."'
/** A key within a Secret. */
export const dataKey = (description: string, defaultValue: string) => matching(description, dataKeyPattern, dataKeyMessage, defaultValue)
/** The same in a list element, for which Helm has no defaults. */
export const secretKey = v.pipe(v.string(), v.regex(dataKeyPattern, dataKeyMessage))

/** The name of an HTTP header. */
export const header = (description: string, defaultValue: string) =>
  matching(description, /^[-A-Za-z0-9]{1,100}$/, 'must be the name of a header: letters, digits and "-"', defaultValue)

/** The issuer URL of an OpenID Connect provider (Discovery 1.0, section 3); empty: none. */
export const issuerAddress = (description: string) =>
  matching(description, /^(?:https:\/\/[^\s?#]+)?$/, 'must be a URL that begins with https://, without "?" or "#"', '')
/** The origin of a page. */
export const originAddress = (description: string) =>
  matching(description, /^(?:https:\/\/[^\s/?#]+)?$/, 'must be https:// and a host, optionally with a port, without a path', '')
/** The duration of a login session. */
export const sessionDuration = (description: string, defaultValue: string) =>
  matching(description, /^(?:[1-9][0-9]{0,2}m|[1-9][0-9]?h)$/, 'must be minutes or hours such as 30m or 8h, at most 99h', defaultValue)
/** Scope tokens of OAuth 2.0 (RFC 6749, 3.3). */
export const oauthScopes = (description: string, defaultValue: string[]) =>
  v.optional(
    v.pipe(
      v.array(v.pipe(v.string(), v.regex(/^[!#-[\]-~]+$/, 'must be a scope, without white space, quotes or backslashes'))),
      v.description(description),
    ),
    defaultValue,
  )
export const requiredText = (description: string, defaultValue: string) =>
  matching(description, /^\S+$/, 'must be a string without white space', defaultValue)

/** The URL of a page, to which the fragment of a section is appended. */
export const pageAddress = (description: string, defaultValue: string) =>
  matching(description, /^(?:https?:\/\/[^\s#]+)?$/, 'must be empty or an http or https URL, without white space or "#"', defaultValue)

/** The status page of another cluster. */
export const clusterUrl = v.pipe(v.string(), v.regex(/^https?:\/\/[^\s]+$/, 'must be an http or https URL without white space'))

/** A host of an Ingress; empty matches every host, `*.` matches one label. */
export const ingressHost = v.pipe(
  v.string(),
  v.maxLength(253),
  v.regex(new RegExp(`^(?:(?:\\*\\.)?${subdomain})?$`), 'must be a host name in lower case, without a scheme or port'),
)

export const flag = (description: string, defaultValue: boolean) =>
  v.optional(v.pipe(v.boolean(), v.description(description)), defaultValue)

/** A whole number. */
export const count = (description: string, defaultValue: number, min: number, max: number) =>
  v.optional(v.pipe(v.number(), v.integer(), v.minValue(min), v.maxValue(max), v.description(description)), defaultValue)

const portNumber = v.pipe(v.number(), v.integer(), v.minValue(1, 'must be from 1 to 65535'), v.maxValue(65_535, 'must be from 1 to 65535'))
export const port = (description: string, defaultValue: number) => v.optional(v.pipe(portNumber, v.description(description)), defaultValue)
/** From 1 to 65535, and at least one. */
export const portList = (description: string, defaultValue: number[]) =>
  v.optional(v.pipe(v.array(portNumber), v.minLength(1, 'must name at least one port'), v.description(description)), defaultValue)

/** A label or annotation key: a name, optionally prefixed with a DNS name and a slash. The DNS name of an annotation may contain capitals. */
const metadataKey = (what: string, domain: string) =>
  v.pipe(
    v.string(),
    v.regex(
      new RegExp(`^(?:${domain}/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`),
      `must be ${what} key: at most 63 letters, digits, "-", "_" and ".", optionally prefixed with a DNS name and "/"`,
    ),
  )
const labelKey = metadataKey('a label', subdomain)
const annotationKey = metadataKey('an annotation', subdomain.replaceAll('a-z', 'A-Za-z'))

export const annotations = (description: string) => v.optional(v.pipe(v.record(annotationKey, v.string()), v.description(description)), {})
const labelValue = v.pipe(
  v.string(),
  v.regex(
    labelValuePattern,
    'must be a label value: at most 63 letters, digits, "-", "_" and ".", beginning and ending with a letter or digit',
  ),
)
export const labels = (description: string) => v.optional(v.pipe(v.record(labelKey, labelValue), v.description(description)), {})
const selectorKey = { key: labelKey }
/** The two parts of a label selector. */
export const selectorValues = (what: string) =>
  ({
    matchLabels: labels(`Labels of ${what}. Without matchLabels and matchExpressions, all match.`),
    matchExpressions: v.optional(
      v.pipe(
        v.array(
          v.variant('operator', [
            v.strictObject({
              ...selectorKey,
              operator: v.picklist(['In', 'NotIn']),
              values: v.pipe(v.array(labelValue), v.minLength(1, 'must name at least one value')),
            }),
            v.strictObject({ ...selectorKey, operator: v.picklist(['Exists', 'DoesNotExist']) }),
          ]),
        ),
        v.description(
          'Additional conditions {key, operator, values} with the operators In, NotIn, Exists and DoesNotExist; the last two have no values.',
        ),
      ),
      [],
    ),
  }) as const
/** An object with some of the given fields, which only the API server validates. */
export const objectWith = (names: readonly string[], description: string) =>
  v.optional(
    v.pipe(
      v.record(v.pipe(v.string(), v.regex(new RegExp(`^(?:${names.join('|')})$`), `must be one of ${names.join(', ')}`)), v.unknown()),
      v.description(description),
    ),
    {},
  )
/** A map, which only the API server validates. */
export const anything = (description: string) => v.optional(v.pipe(v.record(v.string(), v.unknown()), v.description(description)), {})
/** A list of objects, which only the API server validates. */
export const items = (description: string) => v.optional(v.pipe(v.array(v.record(v.string(), v.unknown())), v.description(description)), [])
export const peers = (what: string, defaultPeers: string) =>
  v.optional(
    v.strictObject({
      from: items(`Allowed clients of ${what}: entries {namespaceSelector, podSelector, ipBlock}. Defaults to ${defaultPeers}.`),
    }),
    {},
  )
/** Objects in the namespace of the release, by name. */
export const references = (description: string) =>
  v.optional(v.pipe(v.array(v.strictObject({ name: objectName })), v.description(description)), [])

/** YAML parses `cpu: 1` and `memory: 128e6` as numbers. The API server accepts numbers and strings, so a number is kept. */
const quantityMessage = 'must be a quantity such as 100m or 128Mi'
const isQuantity = (quantity: string | number): boolean => quantityPattern.test(String(quantity))
const anyQuantity = v.pipe(v.union([v.string(), v.number()], quantityMessage), v.check(isQuantity, quantityMessage))
const removableQuantity = v.pipe(
  v.union([v.string(), v.number(), v.null()], quantityMessage),
  v.check((quantity) => quantity === null || isQuantity(quantity), quantityMessage),
)
export const quantity = (description: string, defaultValue: string) =>
  v.optional(v.pipe(anyQuantity, v.description(description)), defaultValue)
/** Names of resources that a container may request. The API server rejects pods that request others. */
const resourceName = new RegExp(
  `^(?:cpu|memory|ephemeral-storage|hugepages-[0-9]+[KMGTPE]i|${subdomain}/[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)$`,
)
type Quantities = Record<string, string | number>
/** An amount for each resource. `null` removes a default. `what` describes one entry. */
export const quantities = (what: string, description: string, defaultValue: Readonly<Record<string, string>> = {}) =>
  v.optional(
    v.pipe(
      v.objectWithRest(
        Object.fromEntries(
          Object.entries(defaultValue).map(([name, amount]) => [
            name,
            v.optional(
              v.pipe(removableQuantity, v.description(`${name === 'cpu' ? 'CPU' : 'Memory'} ${what}; null removes the default.`)),
              amount,
            ),
          ]),
        ),
        removableQuantity,
      ),
      v.rawCheck(({ dataset, addIssue }) => {
        if (!dataset.typed) return
        for (const key of Object.keys(dataset.value).filter((name) => !resourceName.test(name)))
          addIssue({
            message: 'must be cpu, memory, ephemeral-storage, hugepages-… or a name with a domain such as example.com/device',
            path: [{ type: 'object', origin: 'key', input: dataset.value, key, value: dataset.value[key] }],
          })
      }),
      v.metadata({ propertyNames: { pattern: resourceName.source } }),
      v.description(description),
      v.transform((amounts) => Object.fromEntries(Object.entries(amounts).filter(([, amount]) => amount !== null)) as Quantities),
    ),
    {},
  )

/** A Prometheus duration; empty: the field is omitted. */
export const duration = (description: string) =>
  matching(description, durationPattern, 'must be empty or a Prometheus duration such as 30s, 1m30s or 1d', '')
const requiredDurationMessage = 'must be a Prometheus duration such as 30s, 1m30s or 1d'
export const requiredDuration = (description: string, defaultValue: string) =>
  v.optional(
    v.pipe(
      v.string(),
      v.minLength(1, requiredDurationMessage),
      v.regex(durationPattern, requiredDurationMessage),
      v.description(description),
    ),
    defaultValue,
  )

/** Volumes of a pod. Only their names are validated here; the API server validates everything else. */
export const podVolumes = (description: string) =>
  v.optional(v.pipe(v.array(v.looseObject({ name: volumeName })), v.description(description)), [])
export const podVolumeMounts = (description: string) =>
  v.optional(
    v.pipe(
      v.array(
        v.strictObject({
          name: volumeName,
          mountPath: v.pipe(v.string(), v.regex(/^\/[^:]+$/, 'must begin with / and not contain ":"')),
          subPath: v.optional(v.string()),
          readOnly: v.optional(v.boolean()),
        }),
      ),
      v.description(description),
    ),
    [],
  )

/** Names that are also valid in a shell. The API server accepts others too. */
const variableName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable: letters, digits and "_", not beginning with a digit'),
)
/** Variables of a container; only the API server validates the content of `valueFrom`. */
export const environment = (description: string) =>
  v.optional(
    v.pipe(
      v.array(
        v.strictObject({
          name: variableName,
          value: v.optional(v.string('must be a string; quote numbers and booleans')),
          valueFrom: v.optional(v.record(v.string(), v.unknown())),
        }),
      ),
      v.description(description),
    ),
    [],
  )
