/**
 * Who may write what, beyond what roles can say: an agent only its own report, the status of a GatewaySync only the controller, the
 * controller nothing else of it but its own annotations and what people change on the status page, and that a commit skips the stages only those with the right to it.
 */
import type { ApiObject } from 'cdk8s'
import { Construct } from 'constructs'
import { ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding } from '../../imports/admissionregistration.k8s.io.js'
import { gatewaySyncKind, group, skipStagesAnnotation, skipStagesVerb, syncReportKind } from '../../runtime/gatewaysync/names.ts'
import { gatewaySyncSpec } from '../../runtime/gatewaysync/schema/spec.ts'
import { and, either, isSet, or, text, together } from '../helm/combinators.ts'
import type { Live, Value } from '../helm/expression.ts'
import { given } from '../helm/nodes.ts'
import type { Names } from '../names.ts'
import type { Values } from '../values.ts'
import { apiObject, type ManifestOf } from './api-object.ts'
import type { Installation } from './installation.ts'
import { clusterWide } from './metadata.ts'
import { namespacesNamed, type Selector, selectorOf } from './selectors.ts'

/** The namespaces that an installation works in; empty: all. Two installations of a cluster do not restrict each other's namespaces. */
type Scope = Value<readonly string[]>
type Spec = NonNullable<ManifestOf<typeof ValidatingAdmissionPolicy>['spec']>
type BindingSpec = NonNullable<ManifestOf<typeof ValidatingAdmissionPolicyBinding>['spec']>

/** What RBAC cannot say: admission policies that bind who writes to what is written. */
export class Policies extends Construct {
  /** An agent writes the SyncReport of its own pod. */
  readonly reportPolicy: ApiObject
  readonly reportBinding: ApiObject
  /** Nobody but the controller writes the status of a GatewaySync. */
  readonly statusPolicy: ApiObject
  readonly statusBinding: ApiObject
  /** Of the rest of a GatewaySync the controller writes nothing but its own annotations. */
  readonly specPolicy: ApiObject
  readonly specBinding: ApiObject
  /** Nobody lets a commit skip the stages of a rollout without the right to. */
  readonly stagesPolicy: ApiObject
  readonly stagesBinding: ApiObject

  constructor(scope: Construct, id: string, { names, values }: Installation) {
    super(scope, id)
    const selector = selectorOf(values.controller.watchLabelSelector)
    const bound = (id: string, spec: Spec): [policy: ApiObject, binding: ApiObject] => {
      const name = text`${names.fullname}-${id}`
      const metadata = clusterWide(names, name)
      const policy = apiObject(this, `${id}-policy`, ValidatingAdmissionPolicy, { metadata, spec })
      const binding = bindingSpec(name, values.watchNamespaces)
      return [policy, apiObject(this, `${id}-binding`, ValidatingAdmissionPolicyBinding, { metadata, spec: binding })]
    }
    ;[this.reportPolicy, this.reportBinding] = bound('report', reportPolicy(names))
    ;[this.statusPolicy, this.statusBinding] = bound('status', statusPolicy(names, selector))
    ;[this.specPolicy, this.specBinding] = bound('spec', specPolicy(names, values))
    ;[this.stagesPolicy, this.stagesBinding] = bound('stages', stagesPolicy())
  }
}

const claim = (name: string): string => `authentication.kubernetes.io/${name}`
const readClaim = (name: string): string => `'${claim(name)}' in variables.claims ? string(variables.claims['${claim(name)}'][0]) : ''`

/** Only a pod's own token may write its SyncReport. People, the controller and the garbage collector are not restricted. */
function reportPolicy({ namespace, serviceAccount }: Names): Spec {
  const user = 'request.userInfo.username'
  return {
    failurePolicy: 'Fail',
    matchConstraints: rules([syncReportKind.plural, `${syncReportKind.plural}/status`], ['CREATE', 'UPDATE']),
    matchConditions: [
      {
        name: 'not-exempt',
        expression: together(' && ', [
          `${user}.startsWith('system:serviceaccount:')`,
          text`${user} != 'system:serviceaccount:${namespace}:${serviceAccount}'`,
          `!${user}.startsWith('system:serviceaccount:kube-system:')`,
        ]),
      },
    ],
    variables: [
      { name: 'claims', expression: 'has(request.userInfo.extra) ? request.userInfo.extra : {}' },
      { name: 'pod', expression: readClaim('pod-name') },
      { name: 'uid', expression: readClaim('pod-uid') },
    ],
    validations: [
      {
        expression: `variables.pod != '' && ${user}.startsWith('system:serviceaccount:' + request.namespace + ':')`,
        message: 'a SyncReport needs a token bound to a pod of its namespace',
        reason: 'Forbidden',
      },
      {
        expression: 'object.metadata.name == variables.pod',
        messageExpression: "'pod ' + variables.pod + ' may write only its own SyncReport, not ' + object.metadata.name",
        reason: 'Forbidden',
      },
      {
        expression:
          "object.metadata.?ownerReferences.orValue([]).exists(o, o.kind == 'Pod' && o.name == variables.pod && o.uid == variables.uid)",
        messageExpression: "'SyncReport ' + object.metadata.name + ' must be owned by pod ' + variables.pod + ' with uid ' + variables.uid",
        reason: 'Forbidden',
      },
      {
        // An agent that takes over the object of an earlier pod of its name writes the spec last; until then it may stand as it was.
        expression: 'object.spec.podUid == variables.uid || (oldObject != null && object.spec.podUid == oldObject.spec.podUid)',
        messageExpression: "'spec.podUid of SyncReport ' + object.metadata.name + ' must be ' + variables.uid",
        reason: 'Forbidden',
      },
    ],
  }
}

/** Agents follow the status with their token in hand, so nobody but the controller may say where content comes from. */
function statusPolicy({ namespace, serviceAccount }: Names, selector: Selector): Spec {
  const controller = text`system:serviceaccount:${namespace}:${serviceAccount}`
  return {
    failurePolicy: 'Fail',
    // Another installation writes the status of what it selects.
    matchConstraints: rules([`${gatewaySyncKind.plural}/status`], ['UPDATE'], selector),
    validations: [
      {
        expression: text`request.userInfo.username == '${controller}'`,
        message: text`only the controller (${controller}) writes the status of a GatewaySync`,
        reason: 'Forbidden',
      },
    ],
  }
}

/** The members of a spec and of its `git`, from the schema that the definitions are made from. */
const specEntries = gatewaySyncSpec({ allowLocal: false }).entries
const members = { spec: Object.keys(specEntries), git: Object.keys(specEntries.git.entries) }

/** Everything in a spec is as it was, but what people pause and go back to on the status page. */
const specKept = [
  ...members.spec.filter((member) => member !== 'paused' && member !== 'git').map((member) => `spec.?${member}`),
  ...members.git.filter((member) => member !== 'ref').map((member) => `spec.git.?${member}`),
]
  .map((member) => `object.${member} == oldObject.${member}`)
  .join(' && ')

/**
 * The receiver patches request annotations, and a role cannot name single members of an object: without this rule whoever takes over the
 * controller could point every plant at another repository. Where people may act on the status page, it pauses and changes the ref for them.
 */
function specPolicy({ namespace, serviceAccount }: Names, { statusPage: { enabled, proxy, oidc } }: Live<Values>): Spec {
  const acts = and(enabled, or(proxy.enabled, oidc.enabled))
  const kept = (from: string, to: string): string =>
    `${from}.all(key, key.startsWith('${group}/') || (key in ${to} && ${to}[key] == ${from}[key]))`
  return {
    failurePolicy: 'Fail',
    matchConstraints: rules([gatewaySyncKind.plural], ['UPDATE']),
    matchConditions: [
      { name: 'controller', expression: text`request.userInfo.username == 'system:serviceaccount:${namespace}:${serviceAccount}'` },
    ],
    variables: [
      { name: 'before', expression: 'oldObject.metadata.?annotations.orValue({})' },
      { name: 'after', expression: 'object.metadata.?annotations.orValue({})' },
    ],
    validations: [
      {
        expression: either<string>(acts, specKept, 'object.spec == oldObject.spec'),
        message: either<string>(
          acts,
          'of the spec of a GatewaySync the controller changes nothing but paused and git.ref',
          'the controller never changes the spec of a GatewaySync',
        ),
        reason: 'Forbidden',
      },
      {
        expression: together(' && ', [
          kept('variables.before', 'variables.after'),
          kept('variables.after', 'variables.before'),
          ...[
            ['labels', '{}'],
            ['ownerReferences', '[]'],
            ['finalizers', '[]'],
          ].map(([member, none]) => `object.metadata.?${member}.orValue(${none}) == oldObject.metadata.?${member}.orValue(${none})`),
        ]),
        message: `the controller changes only annotations of a GatewaySync that begin with ${group}/`,
        reason: 'Forbidden',
      },
    ],
  }
}

/** To patch a GatewaySync is what whoever asks for a commit may; to send one past every stage of a plant is more, and a right of its own. */
function stagesPolicy(): Spec {
  const value = (object: string): string => `${object}.metadata.?annotations[?'${skipStagesAnnotation}'].orValue('')`
  const resource = `authorizer.group('${group}').resource('${gatewaySyncKind.plural}')`
  return {
    failurePolicy: 'Fail',
    matchConstraints: rules([gatewaySyncKind.plural], ['CREATE', 'UPDATE']),
    matchConditions: [
      { name: 'skips', expression: `${value('object')} != ''` },
      { name: 'is-new', expression: `oldObject == null || ${value('oldObject')} != ${value('object')}` },
    ],
    validations: [
      {
        expression: `${resource}.namespace(request.namespace).name(object.metadata.?name.orValue('')).check('${skipStagesVerb}').allowed()`,
        message: `annotation ${skipStagesAnnotation} needs the verb ${skipStagesVerb} on ${gatewaySyncKind.plural}.${group}`,
        reason: 'Forbidden',
      },
    ],
  }
}

function rules(resources: string[], operations: string[], objectSelector: Selector = {}): NonNullable<Spec['matchConstraints']> {
  // The API server's own defaults are written out, so that a second apply finds nothing to change.
  return {
    matchPolicy: 'Equivalent',
    namespaceSelector: {},
    objectSelector,
    resourceRules: [{ apiGroups: [group], apiVersions: ['*'], resources, operations, scope: '*' }],
  }
}

function bindingSpec(policyName: Value<string>, namespaces: Scope): BindingSpec {
  return {
    policyName,
    validationActions: ['Deny'],
    matchResources: given(isSet(namespaces), {
      matchPolicy: 'Equivalent',
      namespaceSelector: { matchExpressions: [namespacesNamed('In', namespaces)] },
      objectSelector: {},
    }),
  }
}
