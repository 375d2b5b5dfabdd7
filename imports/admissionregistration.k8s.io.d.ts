import { ApiObject, ApiObjectMetadata, GroupVersionKind } from 'cdk8s';
import { Construct } from 'constructs';
/**
 *
 *
 * @schema ValidatingAdmissionPolicy
 */
export declare class ValidatingAdmissionPolicy extends ApiObject {
    /**
     * Returns the apiVersion and kind for "ValidatingAdmissionPolicy"
     */
    static readonly GVK: GroupVersionKind;
    /**
     * Renders a Kubernetes manifest for "ValidatingAdmissionPolicy".
     *
     * This can be used to inline resource manifests inside other objects (e.g. as templates).
     *
     * @param props initialization props
     */
    static manifest(props?: ValidatingAdmissionPolicyProps): any;
    /**
     * Defines a "ValidatingAdmissionPolicy" API object
     * @param scope the scope in which to define this object
     * @param id a scope-local name for the object
     * @param props initialization props
     */
    constructor(scope: Construct, id: string, props?: ValidatingAdmissionPolicyProps);
    /**
     * Renders the object to Kubernetes JSON.
     */
    toJson(): any;
}
/**
 * @schema ValidatingAdmissionPolicy
 */
export interface ValidatingAdmissionPolicyProps {
    /**
     * @schema ValidatingAdmissionPolicy#metadata
     */
    readonly metadata?: ApiObjectMetadata;
    /**
     * @schema ValidatingAdmissionPolicy#spec
     */
    readonly spec?: ValidatingAdmissionPolicySpec;
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicyProps' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicyProps(obj: ValidatingAdmissionPolicyProps | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicySpec
 */
export interface ValidatingAdmissionPolicySpec {
    /**
     * @schema ValidatingAdmissionPolicySpec#auditAnnotations
     */
    readonly auditAnnotations?: ValidatingAdmissionPolicySpecAuditAnnotations[];
    /**
     * @schema ValidatingAdmissionPolicySpec#failurePolicy
     */
    readonly failurePolicy?: string;
    /**
     * @schema ValidatingAdmissionPolicySpec#matchConditions
     */
    readonly matchConditions?: ValidatingAdmissionPolicySpecMatchConditions[];
    /**
     * @schema ValidatingAdmissionPolicySpec#matchConstraints
     */
    readonly matchConstraints?: ValidatingAdmissionPolicySpecMatchConstraints;
    /**
     * @schema ValidatingAdmissionPolicySpec#paramKind
     */
    readonly paramKind?: ValidatingAdmissionPolicySpecParamKind;
    /**
     * @schema ValidatingAdmissionPolicySpec#validations
     */
    readonly validations?: ValidatingAdmissionPolicySpecValidations[];
    /**
     * @schema ValidatingAdmissionPolicySpec#variables
     */
    readonly variables?: ValidatingAdmissionPolicySpecVariables[];
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicySpec' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicySpec(obj: ValidatingAdmissionPolicySpec | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicySpecAuditAnnotations
 */
export interface ValidatingAdmissionPolicySpecAuditAnnotations {
    /**
     * @schema ValidatingAdmissionPolicySpecAuditAnnotations#key
     */
    readonly key: string;
    /**
     * @schema ValidatingAdmissionPolicySpecAuditAnnotations#valueExpression
     */
    readonly valueExpression: string;
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicySpecAuditAnnotations' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicySpecAuditAnnotations(obj: ValidatingAdmissionPolicySpecAuditAnnotations | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicySpecMatchConditions
 */
export interface ValidatingAdmissionPolicySpecMatchConditions {
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConditions#expression
     */
    readonly expression: string;
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConditions#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicySpecMatchConditions' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicySpecMatchConditions(obj: ValidatingAdmissionPolicySpecMatchConditions | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicySpecMatchConstraints
 */
export interface ValidatingAdmissionPolicySpecMatchConstraints {
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraints#excludeResourceRules
     */
    readonly excludeResourceRules?: ValidatingAdmissionPolicySpecMatchConstraintsExcludeResourceRules[];
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraints#matchPolicy
     */
    readonly matchPolicy?: string;
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraints#namespaceSelector
     */
    readonly namespaceSelector?: ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelector;
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraints#objectSelector
     */
    readonly objectSelector?: ValidatingAdmissionPolicySpecMatchConstraintsObjectSelector;
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraints#resourceRules
     */
    readonly resourceRules?: ValidatingAdmissionPolicySpecMatchConstraintsResourceRules[];
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicySpecMatchConstraints' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicySpecMatchConstraints(obj: ValidatingAdmissionPolicySpecMatchConstraints | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicySpecParamKind
 */
export interface ValidatingAdmissionPolicySpecParamKind {
    /**
     * @schema ValidatingAdmissionPolicySpecParamKind#apiVersion
     */
    readonly apiVersion?: string;
    /**
     * @schema ValidatingAdmissionPolicySpecParamKind#kind
     */
    readonly kind?: string;
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicySpecParamKind' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicySpecParamKind(obj: ValidatingAdmissionPolicySpecParamKind | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicySpecValidations
 */
export interface ValidatingAdmissionPolicySpecValidations {
    /**
     * @schema ValidatingAdmissionPolicySpecValidations#expression
     */
    readonly expression: string;
    /**
     * @schema ValidatingAdmissionPolicySpecValidations#message
     */
    readonly message?: string;
    /**
     * @schema ValidatingAdmissionPolicySpecValidations#messageExpression
     */
    readonly messageExpression?: string;
    /**
     * @schema ValidatingAdmissionPolicySpecValidations#reason
     */
    readonly reason?: string;
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicySpecValidations' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicySpecValidations(obj: ValidatingAdmissionPolicySpecValidations | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicySpecVariables
 */
export interface ValidatingAdmissionPolicySpecVariables {
    /**
     * @schema ValidatingAdmissionPolicySpecVariables#expression
     */
    readonly expression: string;
    /**
     * @schema ValidatingAdmissionPolicySpecVariables#name
     */
    readonly name: string;
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicySpecVariables' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicySpecVariables(obj: ValidatingAdmissionPolicySpecVariables | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicySpecMatchConstraintsExcludeResourceRules
 */
export interface ValidatingAdmissionPolicySpecMatchConstraintsExcludeResourceRules {
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraintsExcludeResourceRules#apiGroups
     */
    readonly apiGroups?: string[];
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraintsExcludeResourceRules#apiVersions
     */
    readonly apiVersions?: string[];
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraintsExcludeResourceRules#operations
     */
    readonly operations?: string[];
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraintsExcludeResourceRules#resourceNames
     */
    readonly resourceNames?: string[];
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraintsExcludeResourceRules#resources
     */
    readonly resources?: string[];
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraintsExcludeResourceRules#scope
     */
    readonly scope?: string;
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicySpecMatchConstraintsExcludeResourceRules' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicySpecMatchConstraintsExcludeResourceRules(obj: ValidatingAdmissionPolicySpecMatchConstraintsExcludeResourceRules | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelector
 */
export interface ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelector {
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelector#matchExpressions
     */
    readonly matchExpressions?: ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelectorMatchExpressions[];
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelector#matchLabels
     */
    readonly matchLabels?: {
        [key: string]: string;
    };
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelector' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelector(obj: ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelector | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicySpecMatchConstraintsObjectSelector
 */
export interface ValidatingAdmissionPolicySpecMatchConstraintsObjectSelector {
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraintsObjectSelector#matchExpressions
     */
    readonly matchExpressions?: ValidatingAdmissionPolicySpecMatchConstraintsObjectSelectorMatchExpressions[];
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraintsObjectSelector#matchLabels
     */
    readonly matchLabels?: {
        [key: string]: string;
    };
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicySpecMatchConstraintsObjectSelector' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicySpecMatchConstraintsObjectSelector(obj: ValidatingAdmissionPolicySpecMatchConstraintsObjectSelector | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicySpecMatchConstraintsResourceRules
 */
export interface ValidatingAdmissionPolicySpecMatchConstraintsResourceRules {
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraintsResourceRules#apiGroups
     */
    readonly apiGroups?: string[];
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraintsResourceRules#apiVersions
     */
    readonly apiVersions?: string[];
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraintsResourceRules#operations
     */
    readonly operations?: string[];
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraintsResourceRules#resourceNames
     */
    readonly resourceNames?: string[];
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraintsResourceRules#resources
     */
    readonly resources?: string[];
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraintsResourceRules#scope
     */
    readonly scope?: string;
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicySpecMatchConstraintsResourceRules' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicySpecMatchConstraintsResourceRules(obj: ValidatingAdmissionPolicySpecMatchConstraintsResourceRules | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelectorMatchExpressions
 */
export interface ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelectorMatchExpressions {
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelectorMatchExpressions#key
     */
    readonly key: string;
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelectorMatchExpressions#operator
     */
    readonly operator: string;
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelectorMatchExpressions#values
     */
    readonly values?: string[];
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelectorMatchExpressions' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelectorMatchExpressions(obj: ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelectorMatchExpressions | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicySpecMatchConstraintsObjectSelectorMatchExpressions
 */
export interface ValidatingAdmissionPolicySpecMatchConstraintsObjectSelectorMatchExpressions {
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraintsObjectSelectorMatchExpressions#key
     */
    readonly key: string;
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraintsObjectSelectorMatchExpressions#operator
     */
    readonly operator: string;
    /**
     * @schema ValidatingAdmissionPolicySpecMatchConstraintsObjectSelectorMatchExpressions#values
     */
    readonly values?: string[];
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicySpecMatchConstraintsObjectSelectorMatchExpressions' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicySpecMatchConstraintsObjectSelectorMatchExpressions(obj: ValidatingAdmissionPolicySpecMatchConstraintsObjectSelectorMatchExpressions | undefined): Record<string, any> | undefined;
/**
 *
 *
 * @schema ValidatingAdmissionPolicyBinding
 */
export declare class ValidatingAdmissionPolicyBinding extends ApiObject {
    /**
     * Returns the apiVersion and kind for "ValidatingAdmissionPolicyBinding"
     */
    static readonly GVK: GroupVersionKind;
    /**
     * Renders a Kubernetes manifest for "ValidatingAdmissionPolicyBinding".
     *
     * This can be used to inline resource manifests inside other objects (e.g. as templates).
     *
     * @param props initialization props
     */
    static manifest(props?: ValidatingAdmissionPolicyBindingProps): any;
    /**
     * Defines a "ValidatingAdmissionPolicyBinding" API object
     * @param scope the scope in which to define this object
     * @param id a scope-local name for the object
     * @param props initialization props
     */
    constructor(scope: Construct, id: string, props?: ValidatingAdmissionPolicyBindingProps);
    /**
     * Renders the object to Kubernetes JSON.
     */
    toJson(): any;
}
/**
 * @schema ValidatingAdmissionPolicyBinding
 */
export interface ValidatingAdmissionPolicyBindingProps {
    /**
     * @schema ValidatingAdmissionPolicyBinding#metadata
     */
    readonly metadata?: ApiObjectMetadata;
    /**
     * @schema ValidatingAdmissionPolicyBinding#spec
     */
    readonly spec?: ValidatingAdmissionPolicyBindingSpec;
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicyBindingProps' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicyBindingProps(obj: ValidatingAdmissionPolicyBindingProps | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicyBindingSpec
 */
export interface ValidatingAdmissionPolicyBindingSpec {
    /**
     * @schema ValidatingAdmissionPolicyBindingSpec#matchResources
     */
    readonly matchResources?: ValidatingAdmissionPolicyBindingSpecMatchResources;
    /**
     * @schema ValidatingAdmissionPolicyBindingSpec#paramRef
     */
    readonly paramRef?: ValidatingAdmissionPolicyBindingSpecParamRef;
    /**
     * @schema ValidatingAdmissionPolicyBindingSpec#policyName
     */
    readonly policyName: string;
    /**
     * @schema ValidatingAdmissionPolicyBindingSpec#validationActions
     */
    readonly validationActions: string[];
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicyBindingSpec' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicyBindingSpec(obj: ValidatingAdmissionPolicyBindingSpec | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicyBindingSpecMatchResources
 */
export interface ValidatingAdmissionPolicyBindingSpecMatchResources {
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResources#excludeResourceRules
     */
    readonly excludeResourceRules?: ValidatingAdmissionPolicyBindingSpecMatchResourcesExcludeResourceRules[];
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResources#matchPolicy
     */
    readonly matchPolicy?: string;
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResources#namespaceSelector
     */
    readonly namespaceSelector?: ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelector;
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResources#objectSelector
     */
    readonly objectSelector?: ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelector;
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResources#resourceRules
     */
    readonly resourceRules?: ValidatingAdmissionPolicyBindingSpecMatchResourcesResourceRules[];
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicyBindingSpecMatchResources' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicyBindingSpecMatchResources(obj: ValidatingAdmissionPolicyBindingSpecMatchResources | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicyBindingSpecParamRef
 */
export interface ValidatingAdmissionPolicyBindingSpecParamRef {
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecParamRef#name
     */
    readonly name?: string;
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecParamRef#namespace
     */
    readonly namespace?: string;
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecParamRef#parameterNotFoundAction
     */
    readonly parameterNotFoundAction?: string;
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecParamRef#selector
     */
    readonly selector?: ValidatingAdmissionPolicyBindingSpecParamRefSelector;
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicyBindingSpecParamRef' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicyBindingSpecParamRef(obj: ValidatingAdmissionPolicyBindingSpecParamRef | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesExcludeResourceRules
 */
export interface ValidatingAdmissionPolicyBindingSpecMatchResourcesExcludeResourceRules {
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesExcludeResourceRules#apiGroups
     */
    readonly apiGroups?: string[];
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesExcludeResourceRules#apiVersions
     */
    readonly apiVersions?: string[];
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesExcludeResourceRules#operations
     */
    readonly operations?: string[];
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesExcludeResourceRules#resourceNames
     */
    readonly resourceNames?: string[];
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesExcludeResourceRules#resources
     */
    readonly resources?: string[];
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesExcludeResourceRules#scope
     */
    readonly scope?: string;
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicyBindingSpecMatchResourcesExcludeResourceRules' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicyBindingSpecMatchResourcesExcludeResourceRules(obj: ValidatingAdmissionPolicyBindingSpecMatchResourcesExcludeResourceRules | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelector
 */
export interface ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelector {
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelector#matchExpressions
     */
    readonly matchExpressions?: ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelectorMatchExpressions[];
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelector#matchLabels
     */
    readonly matchLabels?: {
        [key: string]: string;
    };
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelector' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelector(obj: ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelector | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelector
 */
export interface ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelector {
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelector#matchExpressions
     */
    readonly matchExpressions?: ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelectorMatchExpressions[];
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelector#matchLabels
     */
    readonly matchLabels?: {
        [key: string]: string;
    };
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelector' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelector(obj: ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelector | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesResourceRules
 */
export interface ValidatingAdmissionPolicyBindingSpecMatchResourcesResourceRules {
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesResourceRules#apiGroups
     */
    readonly apiGroups?: string[];
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesResourceRules#apiVersions
     */
    readonly apiVersions?: string[];
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesResourceRules#operations
     */
    readonly operations?: string[];
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesResourceRules#resourceNames
     */
    readonly resourceNames?: string[];
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesResourceRules#resources
     */
    readonly resources?: string[];
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesResourceRules#scope
     */
    readonly scope?: string;
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicyBindingSpecMatchResourcesResourceRules' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicyBindingSpecMatchResourcesResourceRules(obj: ValidatingAdmissionPolicyBindingSpecMatchResourcesResourceRules | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicyBindingSpecParamRefSelector
 */
export interface ValidatingAdmissionPolicyBindingSpecParamRefSelector {
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecParamRefSelector#matchExpressions
     */
    readonly matchExpressions?: ValidatingAdmissionPolicyBindingSpecParamRefSelectorMatchExpressions[];
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecParamRefSelector#matchLabels
     */
    readonly matchLabels?: {
        [key: string]: string;
    };
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicyBindingSpecParamRefSelector' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicyBindingSpecParamRefSelector(obj: ValidatingAdmissionPolicyBindingSpecParamRefSelector | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelectorMatchExpressions
 */
export interface ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelectorMatchExpressions {
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelectorMatchExpressions#key
     */
    readonly key: string;
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelectorMatchExpressions#operator
     */
    readonly operator: string;
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelectorMatchExpressions#values
     */
    readonly values?: string[];
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelectorMatchExpressions' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelectorMatchExpressions(obj: ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelectorMatchExpressions | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelectorMatchExpressions
 */
export interface ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelectorMatchExpressions {
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelectorMatchExpressions#key
     */
    readonly key: string;
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelectorMatchExpressions#operator
     */
    readonly operator: string;
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelectorMatchExpressions#values
     */
    readonly values?: string[];
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelectorMatchExpressions' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelectorMatchExpressions(obj: ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelectorMatchExpressions | undefined): Record<string, any> | undefined;
/**
 * @schema ValidatingAdmissionPolicyBindingSpecParamRefSelectorMatchExpressions
 */
export interface ValidatingAdmissionPolicyBindingSpecParamRefSelectorMatchExpressions {
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecParamRefSelectorMatchExpressions#key
     */
    readonly key: string;
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecParamRefSelectorMatchExpressions#operator
     */
    readonly operator: string;
    /**
     * @schema ValidatingAdmissionPolicyBindingSpecParamRefSelectorMatchExpressions#values
     */
    readonly values?: string[];
}
/**
 * Converts an object of type 'ValidatingAdmissionPolicyBindingSpecParamRefSelectorMatchExpressions' to JSON representation.
 */
export declare function toJson_ValidatingAdmissionPolicyBindingSpecParamRefSelectorMatchExpressions(obj: ValidatingAdmissionPolicyBindingSpecParamRefSelectorMatchExpressions | undefined): Record<string, any> | undefined;
