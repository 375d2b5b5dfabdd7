/**
 * Write permissions that RBAC cannot express.
 */
import { Construct } from 'constructs'
// cdk8s-plus-28 has only earlier versions of these kinds.
import {
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
  type ValidatingAdmissionPolicyBindingSpecMatchResources as MatchResources,
  type ValidatingAdmissionPolicySpec as Spec,
  type ValidatingAdmissionPolicySpecMatchConstraintsResourceRules as ResourceRule,
} from '../../imports/admissionregistration.k8s.io.js'
import { membersThatFollow } from '../../runtime/api/followed-ref.ts'
import { gatewaySyncKind, group, skipStagesAnnotation, skipStagesVerb, syncReportKind } from '../../runtime/api/names.ts'
import { gatewaySyncSpec } from '../../runtime/api/schema/spec.ts'
import type { SharedProps } from './shared-props.ts'
import { clusterMetadata, type Names } from '../names.ts'
import type { Values } from '../values.ts'
import { labelSelector, namespaceIs } from './admission.ts'

/** They have the same name. */
type BoundPolicy = { readonly policy: ValidatingAdmissionPolicy; readonly binding: ValidatingAdmissionPolicyBinding }

/** Admission policies that restrict who may write, and what. */
export class Policies extends Construct {
  /** An agent writes only the SyncReport of its own pod. */
  readonly report: BoundPolicy
  /** Only the controller writes the status of a GatewaySync. */
  readonly status: BoundPolicy
  /** Apart from the status, the controller changes only its own annotations of a GatewaySync, and fields that users may change on the status page. */
  readonly spec: BoundPolicy
  /** Only users with a separate permission let a commit skip the stages of a rollout. */
  readonly stages: BoundPolicy
  /** Of Leases and Secrets, the controller creates in its own namespace only its Lease and its certificate Secret. */
  readonly own: BoundPolicy

  private readonly names: Names

  constructor(scope: Construct, id: string, { names, values }: SharedProps) {
    super(scope, id)
    this.names = names
    const { watchNamespaces, controller } = values
    const watched = watchNamespaces.length > 0 ? inNamespaces(watchNamespaces) : undefined
    this.report = this.bind('report', reportPolicy(names), watched)
    // Other installations write the status of the GatewaySyncs that they select.
    this.status = this.bind('status', statusPolicy(names, labelSelector(controller.watchLabelSelector)), watched)
    this.spec = this.bind('spec', specPolicy(names, values), watched)
    this.stages = this.bind('stages', stagesPolicy(), watched)
    this.own = this.bind('own', ownPolicy(names), inNamespaces([names.namespace]))
  }

  /** Binds a policy in the given namespaces, or in all, so that installations for different namespaces do not restrict each other. */
  private bind(id: string, spec: Spec, matchResources?: MatchResources): BoundPolicy {
    const name = `${this.names.fullname}-${id}`
    const metadata = clusterMetadata(this.names, name)
    return {
      policy: new ValidatingAdmissionPolicy(this, `${id}-policy`, { metadata, spec }),
      binding: new ValidatingAdmissionPolicyBinding(this, `${id}-binding`, {
        metadata,
        spec: { policyName: name, validationActions: ['Deny'], ...(matchResources && { matchResources }) },
      }),
    }
  }
}

const claim = (name: string): string => `authentication.kubernetes.io/${name}`
const readClaim = (name: string): string => `'${claim(name)}' in variables.claims ? string(variables.claims['${claim(name)}'][0]) : ''`

/** Only a pod's own token may write its SyncReport. Users, the controller and the garbage collector are not restricted. */
function reportPolicy(names: Names): Spec {
  const user = 'request.userInfo.username'
  return {
    failurePolicy: 'Fail',
    matchConstraints: matching([ours([syncReportKind.plural, `${syncReportKind.plural}/status`], ['CREATE', 'UPDATE'])]),
    matchConditions: [
      {
        name: 'not-exempt',
        expression: [
          `${user}.startsWith('system:serviceaccount:')`,
          `${user} != '${userOf(names)}'`,
          `!${user}.startsWith('system:serviceaccount:kube-system:')`,
        ].join(' && '),
      },
    ],
    variables: [
      { name: 'claims', expression: 'has(request.userInfo.extra) ? request.userInfo.extra : {}' },
      { name: 'pod', expression: readClaim('pod-name') },
      { name: 'uid', expression: readClaim('pod-uid') },
      { name: 'owners', expression: 'object.metadata.?ownerReferences.orValue([])' },
    ],
    validations: [
      {
        expression: `variables.pod != '' && ${user}.startsWith('system:serviceaccount:' + request.namespace + ':')`,
        message: 'writing a SyncReport requires a token bound to a pod in its namespace',
        reason: 'Forbidden',
      },
      {
        expression: 'object.metadata.name == variables.pod',
        messageExpression: "'pod ' + variables.pod + ' may write only its own SyncReport, not ' + object.metadata.name",
        reason: 'Forbidden',
      },
      {
        expression:
          "variables.owners.size() == 1 && variables.owners[0].kind == 'Pod' && variables.owners[0].name == variables.pod && variables.owners[0].uid == variables.uid",
        messageExpression:
          "'SyncReport ' + object.metadata.name + ' must have pod ' + variables.pod + ' with uid ' + variables.uid + ' as its only owner'",
        reason: 'Forbidden',
      },
      {
        // A finalizer would keep the object, and its namespace, from being deleted. Existing ones, such as foregroundDeletion, may stay.
        expression: 'object.metadata.?finalizers.orValue([]).all(f, oldObject != null && f in oldObject.metadata.?finalizers.orValue([]))',
        messageExpression: "'an agent must not add finalizers to SyncReport ' + object.metadata.name",
        reason: 'Forbidden',
      },
      {
        // An agent that takes over the object of an earlier pod with the same name writes the spec last; until then it may stay unchanged.
        expression: 'object.spec.podUid == variables.uid || (oldObject != null && object.spec.podUid == oldObject.spec.podUid)',
        messageExpression: "'spec.podUid of SyncReport ' + object.metadata.name + ' must be ' + variables.uid",
        reason: 'Forbidden',
      },
    ],
  }
}

/** Agents send their token to the address in the status, so only the controller may write it. */
function statusPolicy(names: Names, objectSelector: LabelSelector): Spec {
  return {
    failurePolicy: 'Fail',
    matchConstraints: matching([ours([`${gatewaySyncKind.plural}/status`], ['UPDATE'])], objectSelector),
    validations: [
      {
        expression: `request.userInfo.username == '${userOf(names)}'`,
        message: `only the controller (${userOf(names)}) may write the status of a GatewaySync`,
        reason: 'Forbidden',
      },
    ],
  }
}

/** The fields of a source that select the ref to follow. A client that sets one of them removes the others. */
const followedMembers: ReadonlySet<string> = new Set([...membersThatFollow.git, ...membersThatFollow.oci])

/** The fields of a spec and of its source, from the schema of the CRDs. */
const specEntries = gatewaySyncSpec({ allowLocal: false }).entries
const members = {
  spec: Object.keys(specEntries),
  git: Object.keys(specEntries.git.wrapped.entries),
  oci: Object.keys(specEntries.oci.wrapped.entries),
}

/** CEL: the spec is unchanged, except for the fields that users may change on the status page. */
export const specUnchanged = [
  ...members.spec.filter((member) => !['paused', 'git', 'oci'].includes(member)).map((member) => `spec.?${member}`),
  ...(['git', 'oci'] as const).flatMap((source) =>
    members[source].filter((member) => !followedMembers.has(member)).map((member) => `spec.?${source}.?${member}`),
  ),
]
  .map((member) => `object.${member} == oldObject.${member}`)
  .join(' && ')

/**
 * The receiver patches request annotations, and RBAC cannot restrict a patch to single fields: without this policy, an attacker with the
 * controller's account could point every plant at another repository. If the status page has actions, the controller also changes
 * `spec.paused` and the followed ref for its users.
 */
function specPolicy(names: Names, { statusPage: { enabled, proxy, oidc } }: Values): Spec {
  const hasActions = enabled && (proxy.enabled || oidc.enabled)
  const kept = (from: string, to: string): string =>
    `${from}.all(key, key.startsWith('${group}/') || (key in ${to} && ${to}[key] == ${from}[key]))`
  return {
    failurePolicy: 'Fail',
    matchConstraints: matching([ours([gatewaySyncKind.plural], ['UPDATE'])]),
    matchConditions: [onlyController(names)],
    variables: [
      { name: 'before', expression: 'oldObject.metadata.?annotations.orValue({})' },
      { name: 'after', expression: 'object.metadata.?annotations.orValue({})' },
    ],
    validations: [
      {
        expression: hasActions ? specUnchanged : 'object.spec == oldObject.spec',
        message: hasActions
          ? 'the controller may change only spec.paused and the followed ref of a GatewaySync'
          : 'the controller may not change the spec of a GatewaySync',
        reason: 'Forbidden',
      },
      {
        expression: [
          kept('variables.before', 'variables.after'),
          kept('variables.after', 'variables.before'),
          ...[
            ['labels', '{}'],
            ['ownerReferences', '[]'],
            ['finalizers', '[]'],
          ].map(([member, none]) => `object.metadata.?${member}.orValue(${none}) == oldObject.metadata.?${member}.orValue(${none})`),
        ].join(' && '),
        message: `the controller may change only annotations of a GatewaySync that begin with ${group}/`,
        reason: 'Forbidden',
      },
    ],
  }
}

/** Users who may request a commit may patch a GatewaySync; skipping the stages of a rollout requires a separate permission. */
function stagesPolicy(): Spec {
  const value = (object: string): string => `${object}.metadata.?annotations[?'${skipStagesAnnotation}'].orValue('')`
  const resource = `authorizer.group('${group}').resource('${gatewaySyncKind.plural}')`
  return {
    failurePolicy: 'Fail',
    matchConstraints: matching([ours([gatewaySyncKind.plural], ['CREATE', 'UPDATE'])]),
    matchConditions: [
      { name: 'skips', expression: `${value('object')} != ''` },
      { name: 'is-new', expression: `oldObject == null || ${value('oldObject')} != ${value('object')}` },
    ],
    validations: [
      {
        expression: `${resource}.namespace(request.namespace).name(object.metadata.?name.orValue('')).check('${skipStagesVerb}').allowed()`,
        message: `setting the annotation ${skipStagesAnnotation} requires the verb ${skipStagesVerb} on ${gatewaySyncKind.plural}.${group}`,
        reason: 'Forbidden',
      },
    ],
  }
}

/**
 * RBAC cannot restrict "create" to a name. Without this policy, an attacker with the controller's account could create a Secret of type
 * kubernetes.io/service-account-token, which the API server fills with the token of any ServiceAccount of the namespace.
 */
function ownPolicy(names: Names): Spec {
  return {
    failurePolicy: 'Fail',
    matchConstraints: matching([
      resourceRule('', 'v1', ['secrets'], ['CREATE']),
      resourceRule('coordination.k8s.io', '*', ['leases'], ['CREATE']),
    ]),
    matchConditions: [onlyController(names)],
    validations: [
      {
        expression: `request.resource.resource != 'leases' || object.metadata.name == '${names.fullname}'`,
        message: `the controller may create only the Lease ${names.fullname}`,
        reason: 'Forbidden',
      },
      {
        expression: `request.resource.resource != 'secrets' || (object.metadata.name == '${names.certificateSecret}' && object.type == 'kubernetes.io/tls')`,
        message: `the controller may create only the Secret ${names.certificateSecret} of type kubernetes.io/tls`,
        reason: 'Forbidden',
      },
    ],
  }
}

/** The controller, as the API server names it. */
function userOf({ namespace, serviceAccount }: Names): string {
  return `system:serviceaccount:${namespace}:${serviceAccount}`
}

function onlyController(names: Names): { name: string; expression: string } {
  return { name: 'controller', expression: `request.userInfo.username == '${userOf(names)}'` }
}

type MatchConstraints = NonNullable<Spec['matchConstraints']>
type LabelSelector = NonNullable<MatchConstraints['objectSelector']>

function matching(resourceRules: ResourceRule[], objectSelector: LabelSelector = {}): MatchConstraints {
  // The API server's defaults are written out, so that a second apply finds nothing to change.
  return { matchPolicy: 'Equivalent', namespaceSelector: {}, objectSelector, resourceRules }
}

/** Custom resources of the operator. */
function ours(resources: string[], operations: string[]): ResourceRule {
  return resourceRule(group, '*', resources, operations)
}

function resourceRule(apiGroup: string, apiVersion: string, resources: string[], operations: string[]): ResourceRule {
  return { apiGroups: [apiGroup], apiVersions: [apiVersion], resources, operations, scope: '*' }
}

function inNamespaces(namespaces: string[]): MatchResources {
  return {
    matchPolicy: 'Equivalent',
    namespaceSelector: { matchExpressions: [namespaceIs('In', namespaces)] },
    objectSelector: {},
  }
}
