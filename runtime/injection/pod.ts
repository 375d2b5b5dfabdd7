/**
 * Defines the parts of a pod that injection reads, as they arrive in an AdmissionReview: decoded by the API server, not validated yet.
 * Pure.
 */
import * as v from 'valibot'

const strings = v.record(v.string(), v.string())
const optional = <Schema extends v.GenericSchema>(schema: Schema) => v.optional(v.nullable(schema))
const list = <Schema extends v.GenericSchema>(schema: Schema) =>
  v.pipe(
    optional(v.array(schema)),
    v.transform((items) => items ?? undefined),
  )

const volumeMount = v.looseObject({
  name: v.string(),
  mountPath: v.string(),
  subPath: v.optional(v.string()),
  subPathExpr: v.optional(v.string()),
  readOnly: v.optional(v.boolean()),
})

const envEntry = v.looseObject({
  name: v.string(),
  value: v.optional(v.string()),
  valueFrom: v.optional(v.record(v.string(), v.unknown())),
})

const sourceName = v.optional(v.looseObject({ name: v.optional(v.string()) }))
const envSource = v.looseObject({ prefix: v.optional(v.string()), configMapRef: sourceName, secretRef: sourceName })

const quantities = v.optional(v.record(v.string(), v.union([v.string(), v.number()])))

const container = v.looseObject({
  name: v.string(),
  command: list(v.string()),
  args: list(v.string()),
  env: list(envEntry),
  envFrom: list(envSource),
  volumeMounts: list(volumeMount),
  ports: list(v.looseObject({ containerPort: v.number() })),
  securityContext: v.optional(v.record(v.string(), v.unknown())),
  resources: v.optional(v.looseObject({ requests: quantities, limits: quantities })),
})

/** Unknown members are kept; null counts as absent for what the API server may send as null. */
export const pod = v.looseObject({
  metadata: v.looseObject({
    name: v.optional(v.string()),
    generateName: v.optional(v.string()),
    annotations: optional(strings),
    labels: optional(strings),
  }),
  spec: v.looseObject({
    os: v.optional(v.looseObject({ name: v.optional(v.string()) })),
    nodeSelector: optional(strings),
    hostNetwork: v.optional(v.boolean()),
    dnsPolicy: v.optional(v.string()),
    initContainers: list(container),
    containers: v.array(container),
    volumes: list(v.looseObject({ name: v.string() })),
    imagePullSecrets: list(v.looseObject({ name: v.optional(v.string()) })),
    resources: v.optional(v.looseObject({ requests: quantities, limits: quantities })),
    securityContext: v.optional(v.record(v.string(), v.unknown())),
  }),
})

export type Pod = v.InferOutput<typeof pod>
export type Container = v.InferOutput<typeof container>
export type VolumeMount = v.InferOutput<typeof volumeMount>
