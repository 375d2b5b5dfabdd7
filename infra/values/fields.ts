/**
 * Schemas of single values, each with the grammar that the API server enforces. Pure.
 */
import * as v from 'valibot'
import { quantityPattern } from '../../runtime/gatewaysync/quantity.ts'
import { durationPattern } from './duration.ts'
import { matches } from '../helm/combinators.ts'
import type { Value } from '../helm/expression.ts'

/** RFC 1123 label, as namespaces and the volumes of a pod have. */
const labelPattern = /^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/
/** RFC 1035 label: Services, which most names become a part of, begin with a letter. */
const serviceLabelPattern = /^[a-z](?:[-a-z0-9]{0,61}[a-z0-9])?$/
const emptyOr = (pattern: RegExp): RegExp => new RegExp(`^(?:${pattern.source.slice(1, -1)})?$`)
/** RFC 1123 subdomain, as most objects are named. */
const subdomainPattern = /^[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*$/
const subdomain = subdomainPattern.source.slice(1, -1)
const labelValuePattern = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/

const labelWords = 'lower-case letters, digits and "-", at most 63 characters, beginning and ending with a letter or digit'

/** Whether a text can name a Service (RFC 1035 label). */
export function isServiceLabel(name: Value<string>): Value<boolean> {
  return matches(serviceLabelPattern, name)
}

/** Whether a text can name a namespace (RFC 1123 label). */
export function isNamespaceName(name: Value<string>): Value<boolean> {
  return matches(labelPattern, name)
}

export const text = (description: string, initial: string) => v.optional(v.pipe(v.string(), v.description(description)), initial)
const matching = (description: string, pattern: RegExp, message: string, initial: string) =>
  v.optional(v.pipe(v.string(), v.regex(pattern, message), v.description(description)), initial)

/** A bearer token, as a header of HTTP carries it; empty for none. */
export const bearerToken = (description: string) =>
  matching(
    description,
    /^[!-~]*$/,
    'must hold visible ASCII characters only, without blanks: an Authorization header carries no others',
    '',
  )

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
export const notificationReceiver = label('a receiver of notifications')
export const optionalNamespace = (description: string) =>
  matching(description, emptyOr(labelPattern), `must be empty or the name of a namespace: ${labelWords}`, '')

const objectNameMessage = 'must be the name of an object: lower-case letters, digits, "-" and "."'
/** Of an object of most kinds (RFC 1123 subdomain). */
export const objectName = v.pipe(v.string(), v.maxLength(253), v.regex(subdomainPattern, objectNameMessage))
export const optionalObjectName = (description: string) => matching(description, emptyOr(subdomainPattern), objectNameMessage, '')
/** A key within a Secret. */
export const dataKey = (description: string, initial: string) =>
  matching(description, /^[-._a-zA-Z0-9]{1,253}$/, 'must be a key of a Secret: letters, digits, "-", "_" and "."', initial)

/** The name of a header of HTTP. */
export const header = (description: string, initial: string) =>
  matching(description, /^[-A-Za-z0-9]{1,100}$/, 'must be the name of a header: letters, digits and "-"', initial)

/** Where somebody is reached by HTTPS, as OpenID Connect names providers (Discovery 1.0, 3); empty: nowhere. */
export const issuerAddress = (description: string) =>
  matching(description, /^(?:https:\/\/[^\s?#]+)?$/, 'must be an address that begins with https://, without "?" and "#"', '')
/** The beginning of every address of a page. */
export const originAddress = (description: string) =>
  matching(description, /^(?:https:\/\/[^\s/?#]+)?$/, 'must be https:// and a host, and a port if need be, without anything behind', '')
/** How long somebody stays logged in. */
export const sessionDuration = (description: string, initial: string) =>
  matching(description, /^(?:[1-9][0-9]{0,2}m|[1-9][0-9]?h)$/, 'must be minutes or hours such as 30m or 8h, at most 99h', initial)
/** Words of OAuth 2.0 (RFC 6749, 3.3). */
export const oauthScopes = (description: string, initial: string[]) =>
  v.optional(
    v.pipe(
      v.array(v.pipe(v.string(), v.regex(/^[!#-[\]-~]+$/, 'must be a scope: letters, digits and signs, no white space'))),
      v.description(description),
    ),
    initial,
  )
export const requiredText = (description: string, initial: string) =>
  matching(description, /^\S+$/, 'must be a text without white space', initial)

/** Where a page is read; a section of it is named behind it. */
export const pageAddress = (description: string, initial: string) =>
  matching(description, /^[^\s#]+$/, 'must be the address of a page, without white space and "#"', initial)

/** A host of an Ingress; empty stands for every host, `*.` for one label. */
export const ingressHost = v.pipe(
  v.string(),
  v.maxLength(253),
  v.regex(new RegExp(`^(?:(?:\\*\\.)?${subdomain})?$`), 'must be a host name in lower case, without scheme and port'),
)

export const flag = (description: string, initial: boolean) => v.optional(v.pipe(v.boolean(), v.description(description)), initial)

/** A whole number of something. */
export const count = (description: string, initial: number, least: number, most: number) =>
  v.optional(v.pipe(v.number(), v.integer(), v.minValue(least), v.maxValue(most), v.description(description)), initial)

const portNumber = v.pipe(v.number(), v.integer(), v.minValue(1, 'must be from 1 to 65535'), v.maxValue(65_535, 'must be from 1 to 65535'))
export const port = (description: string, initial: number) => v.optional(v.pipe(portNumber, v.description(description)), initial)
/** From 1 to 65535, and at least one. */
export const portList = (description: string, initial: number[]) =>
  v.optional(v.pipe(v.array(portNumber), v.minLength(1, 'must name at least one port'), v.description(description)), initial)

/** A key of labels or annotations: a name, after a DNS name and a slash if any. The DNS name of an annotation may be in capitals. */
const metadataKey = (what: string, domain: string) =>
  v.pipe(
    v.string(),
    v.regex(
      new RegExp(`^(?:${domain}/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`),
      `must be ${what} key: at most 63 letters, digits, "-", "_" and ".", after a DNS name and "/" if any`,
    ),
  )
const labelKey = metadataKey('a label', subdomain)
const annotationKey = metadataKey('an annotation', subdomain.replaceAll('a-z', 'A-Za-z'))

export const annotations = (description: string) => v.optional(v.pipe(v.record(annotationKey, v.string()), v.description(description)), {})
const labelValue = v.pipe(
  v.string(),
  v.regex(
    labelValuePattern,
    'must be a label value: at most 63 letters, digits, "-", "_" and ".", beginning and ending with one of the first two',
  ),
)
export const labels = (description: string) => v.optional(v.pipe(v.record(labelKey, labelValue), v.description(description)), {})
const selectorKey = { key: labelKey }
/** The two parts of a selector; an expression has values where its operator takes some. */
export const selectorValues = (what: string) =>
  ({
    matchLabels: labels(`Labels of ${what}; none, and no matchExpressions either: all.`),
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
        v.description('Entries {key, operator, values} which hold besides: In, NotIn, and without values Exists, DoesNotExist.'),
      ),
      [],
    ),
  }) as const
/** An object with some of the given members, each of which the API server checks. */
export const objectWith = (names: readonly string[], description: string) =>
  v.optional(
    v.pipe(
      v.record(v.pipe(v.string(), v.regex(new RegExp(`^(?:${names.join('|')})$`), `must be one of ${names.join(', ')}`)), v.unknown()),
      v.description(description),
    ),
    {},
  )
/** A map of which only the API server checks what is in it. */
export const anything = (description: string) => v.optional(v.pipe(v.record(v.string(), v.unknown()), v.description(description)), {})
/** Of objects whose members only the API server checks. */
export const items = (description: string) => v.optional(v.pipe(v.array(v.record(v.string(), v.unknown())), v.description(description)), [])
export const peers = (what: string, usual: string) =>
  v.optional(
    v.strictObject({ from: items(`Who may reach ${what}: entries {namespaceSelector, podSelector, ipBlock}; empty: ${usual}.`) }),
    {},
  )
/** Objects in the namespace of the release, by name. */
export const references = (description: string) =>
  v.optional(v.pipe(v.array(v.strictObject({ name: objectName })), v.description(description)), [])

/** YAML reads `cpu: 1` and `memory: 128e6` as numbers; the API server takes both forms. */
const anyQuantity = (description: string) =>
  v.pipe(
    v.union([v.string(), v.number()], 'must be a quantity such as 100m or 128Mi'),
    v.description(description),
    v.transform(String),
    v.regex(quantityPattern, 'must be a quantity such as 100m or 128Mi'),
  )
export const quantity = (description: string, initial: string) => v.optional(anyQuantity(description), initial)
/** Names of resources that a container may request. The API server would refuse every pod with an agent that requests any other. */
const resourceName = v.pipe(
  v.string(),
  v.regex(
    new RegExp(`^(?:cpu|memory|ephemeral-storage|hugepages-[0-9]+[KMGTPE]i|${subdomain}/[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)$`),
    'must be cpu, memory, ephemeral-storage, hugepages-… or a name with a domain such as example.com/device',
  ),
)
/** An amount for each resource that a container may request, such as `cpu`. */
export const quantities = (description: string) =>
  v.optional(v.pipe(v.record(resourceName, anyQuantity('')), v.description(description)), {})

/** As Prometheus writes durations; empty: none is written. */
export const duration = (description: string) =>
  matching(description, durationPattern, 'must be empty or a duration of Prometheus such as 30s, 1m30s or 1d', '')
const requiredDurationMessage = 'must be a duration of Prometheus such as 30s, 1m30s or 1d'
export const requiredDuration = (description: string, initial: string) =>
  v.optional(
    v.pipe(
      v.string(),
      v.minLength(1, requiredDurationMessage),
      v.regex(durationPattern, requiredDurationMessage),
      v.description(description),
    ),
    initial,
  )

/** Volumes of a pod. Only their names are checked here; the API server checks everything else. */
export const podVolumes = (description: string) =>
  v.optional(v.pipe(v.array(v.looseObject({ name: volumeName })), v.description(description)), [])
export const podVolumeMounts = (description: string) =>
  v.optional(
    v.pipe(
      v.array(
        v.strictObject({
          name: volumeName,
          mountPath: v.pipe(v.string(), v.regex(/^\/[^:]+$/, 'must begin with / and hold no ":"')),
          subPath: v.optional(v.string()),
          readOnly: v.optional(v.boolean()),
        }),
      ),
      v.description(description),
    ),
    [],
  )

/** Names that are also valid in a shell. The API server accepts more, which nobody needs. */
const variableName = v.pipe(
  v.string(),
  v.regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'must be the name of an environment variable: letters, digits and "_", not beginning with a digit'),
)
/** Variables of a container; of `valueFrom` only the API server checks what is in it. */
export const environment = (description: string) =>
  v.optional(
    v.pipe(
      v.array(
        v.strictObject({
          name: variableName,
          value: v.optional(v.string('must be a string; quote what YAML reads as a number or a flag')),
          valueFrom: v.optional(v.record(v.string(), v.unknown())),
        }),
      ),
      v.description(description),
    ),
    [],
  )
