import { ApiObject, ApiObjectMetadata, GroupVersionKind } from 'cdk8s';
import { Construct } from 'constructs';
export declare class ValidatingAdmissionPolicy extends ApiObject {
    static readonly GVK: GroupVersionKind;
    static manifest(props?: ValidatingAdmissionPolicyProps): any;
    constructor(scope: Construct, id: string, props?: ValidatingAdmissionPolicyProps);
    toJson(): any;
}
export interface ValidatingAdmissionPolicyProps {
    readonly metadata?: ApiObjectMetadata;
    readonly spec?: ValidatingAdmissionPolicySpec;
}
export declare function toJson_ValidatingAdmissionPolicyProps(obj: ValidatingAdmissionPolicyProps | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicySpec {
    readonly auditAnnotations?: ValidatingAdmissionPolicySpecAuditAnnotations[];
    readonly failurePolicy?: string;
    readonly matchConditions?: ValidatingAdmissionPolicySpecMatchConditions[];
    readonly matchConstraints?: ValidatingAdmissionPolicySpecMatchConstraints;
    readonly paramKind?: ValidatingAdmissionPolicySpecParamKind;
    readonly validations?: ValidatingAdmissionPolicySpecValidations[];
    readonly variables?: ValidatingAdmissionPolicySpecVariables[];
}
export declare function toJson_ValidatingAdmissionPolicySpec(obj: ValidatingAdmissionPolicySpec | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicySpecAuditAnnotations {
    readonly key: string;
    readonly valueExpression: string;
}
export declare function toJson_ValidatingAdmissionPolicySpecAuditAnnotations(obj: ValidatingAdmissionPolicySpecAuditAnnotations | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicySpecMatchConditions {
    readonly expression: string;
    readonly name: string;
}
export declare function toJson_ValidatingAdmissionPolicySpecMatchConditions(obj: ValidatingAdmissionPolicySpecMatchConditions | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicySpecMatchConstraints {
    readonly excludeResourceRules?: ValidatingAdmissionPolicySpecMatchConstraintsExcludeResourceRules[];
    readonly matchPolicy?: string;
    readonly namespaceSelector?: ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelector;
    readonly objectSelector?: ValidatingAdmissionPolicySpecMatchConstraintsObjectSelector;
    readonly resourceRules?: ValidatingAdmissionPolicySpecMatchConstraintsResourceRules[];
}
export declare function toJson_ValidatingAdmissionPolicySpecMatchConstraints(obj: ValidatingAdmissionPolicySpecMatchConstraints | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicySpecParamKind {
    readonly apiVersion?: string;
    readonly kind?: string;
}
export declare function toJson_ValidatingAdmissionPolicySpecParamKind(obj: ValidatingAdmissionPolicySpecParamKind | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicySpecValidations {
    readonly expression: string;
    readonly message?: string;
    readonly messageExpression?: string;
    readonly reason?: string;
}
export declare function toJson_ValidatingAdmissionPolicySpecValidations(obj: ValidatingAdmissionPolicySpecValidations | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicySpecVariables {
    readonly expression: string;
    readonly name: string;
}
export declare function toJson_ValidatingAdmissionPolicySpecVariables(obj: ValidatingAdmissionPolicySpecVariables | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicySpecMatchConstraintsExcludeResourceRules {
    readonly apiGroups?: string[];
    readonly apiVersions?: string[];
    readonly operations?: string[];
    readonly resourceNames?: string[];
    readonly resources?: string[];
    readonly scope?: string;
}
export declare function toJson_ValidatingAdmissionPolicySpecMatchConstraintsExcludeResourceRules(obj: ValidatingAdmissionPolicySpecMatchConstraintsExcludeResourceRules | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelector {
    readonly matchExpressions?: ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelectorMatchExpressions[];
    readonly matchLabels?: {
        [key: string]: string;
    };
}
export declare function toJson_ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelector(obj: ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelector | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicySpecMatchConstraintsObjectSelector {
    readonly matchExpressions?: ValidatingAdmissionPolicySpecMatchConstraintsObjectSelectorMatchExpressions[];
    readonly matchLabels?: {
        [key: string]: string;
    };
}
export declare function toJson_ValidatingAdmissionPolicySpecMatchConstraintsObjectSelector(obj: ValidatingAdmissionPolicySpecMatchConstraintsObjectSelector | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicySpecMatchConstraintsResourceRules {
    readonly apiGroups?: string[];
    readonly apiVersions?: string[];
    readonly operations?: string[];
    readonly resourceNames?: string[];
    readonly resources?: string[];
    readonly scope?: string;
}
export declare function toJson_ValidatingAdmissionPolicySpecMatchConstraintsResourceRules(obj: ValidatingAdmissionPolicySpecMatchConstraintsResourceRules | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelectorMatchExpressions {
    readonly key: string;
    readonly operator: string;
    readonly values?: string[];
}
export declare function toJson_ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelectorMatchExpressions(obj: ValidatingAdmissionPolicySpecMatchConstraintsNamespaceSelectorMatchExpressions | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicySpecMatchConstraintsObjectSelectorMatchExpressions {
    readonly key: string;
    readonly operator: string;
    readonly values?: string[];
}
export declare function toJson_ValidatingAdmissionPolicySpecMatchConstraintsObjectSelectorMatchExpressions(obj: ValidatingAdmissionPolicySpecMatchConstraintsObjectSelectorMatchExpressions | undefined): Record<string, any> | undefined;
export declare class ValidatingAdmissionPolicyBinding extends ApiObject {
    static readonly GVK: GroupVersionKind;
    static manifest(props?: ValidatingAdmissionPolicyBindingProps): any;
    constructor(scope: Construct, id: string, props?: ValidatingAdmissionPolicyBindingProps);
    toJson(): any;
}
export interface ValidatingAdmissionPolicyBindingProps {
    readonly metadata?: ApiObjectMetadata;
    readonly spec?: ValidatingAdmissionPolicyBindingSpec;
}
export declare function toJson_ValidatingAdmissionPolicyBindingProps(obj: ValidatingAdmissionPolicyBindingProps | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicyBindingSpec {
    readonly matchResources?: ValidatingAdmissionPolicyBindingSpecMatchResources;
    readonly paramRef?: ValidatingAdmissionPolicyBindingSpecParamRef;
    readonly policyName: string;
    readonly validationActions: string[];
}
export declare function toJson_ValidatingAdmissionPolicyBindingSpec(obj: ValidatingAdmissionPolicyBindingSpec | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicyBindingSpecMatchResources {
    readonly excludeResourceRules?: ValidatingAdmissionPolicyBindingSpecMatchResourcesExcludeResourceRules[];
    readonly matchPolicy?: string;
    readonly namespaceSelector?: ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelector;
    readonly objectSelector?: ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelector;
    readonly resourceRules?: ValidatingAdmissionPolicyBindingSpecMatchResourcesResourceRules[];
}
export declare function toJson_ValidatingAdmissionPolicyBindingSpecMatchResources(obj: ValidatingAdmissionPolicyBindingSpecMatchResources | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicyBindingSpecParamRef {
    readonly name?: string;
    readonly namespace?: string;
    readonly parameterNotFoundAction?: string;
    readonly selector?: ValidatingAdmissionPolicyBindingSpecParamRefSelector;
}
export declare function toJson_ValidatingAdmissionPolicyBindingSpecParamRef(obj: ValidatingAdmissionPolicyBindingSpecParamRef | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicyBindingSpecMatchResourcesExcludeResourceRules {
    readonly apiGroups?: string[];
    readonly apiVersions?: string[];
    readonly operations?: string[];
    readonly resourceNames?: string[];
    readonly resources?: string[];
    readonly scope?: string;
}
export declare function toJson_ValidatingAdmissionPolicyBindingSpecMatchResourcesExcludeResourceRules(obj: ValidatingAdmissionPolicyBindingSpecMatchResourcesExcludeResourceRules | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelector {
    readonly matchExpressions?: ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelectorMatchExpressions[];
    readonly matchLabels?: {
        [key: string]: string;
    };
}
export declare function toJson_ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelector(obj: ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelector | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelector {
    readonly matchExpressions?: ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelectorMatchExpressions[];
    readonly matchLabels?: {
        [key: string]: string;
    };
}
export declare function toJson_ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelector(obj: ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelector | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicyBindingSpecMatchResourcesResourceRules {
    readonly apiGroups?: string[];
    readonly apiVersions?: string[];
    readonly operations?: string[];
    readonly resourceNames?: string[];
    readonly resources?: string[];
    readonly scope?: string;
}
export declare function toJson_ValidatingAdmissionPolicyBindingSpecMatchResourcesResourceRules(obj: ValidatingAdmissionPolicyBindingSpecMatchResourcesResourceRules | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicyBindingSpecParamRefSelector {
    readonly matchExpressions?: ValidatingAdmissionPolicyBindingSpecParamRefSelectorMatchExpressions[];
    readonly matchLabels?: {
        [key: string]: string;
    };
}
export declare function toJson_ValidatingAdmissionPolicyBindingSpecParamRefSelector(obj: ValidatingAdmissionPolicyBindingSpecParamRefSelector | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelectorMatchExpressions {
    readonly key: string;
    readonly operator: string;
    readonly values?: string[];
}
export declare function toJson_ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelectorMatchExpressions(obj: ValidatingAdmissionPolicyBindingSpecMatchResourcesNamespaceSelectorMatchExpressions | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelectorMatchExpressions {
    readonly key: string;
    readonly operator: string;
    readonly values?: string[];
}
export declare function toJson_ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelectorMatchExpressions(obj: ValidatingAdmissionPolicyBindingSpecMatchResourcesObjectSelectorMatchExpressions | undefined): Record<string, any> | undefined;
export interface ValidatingAdmissionPolicyBindingSpecParamRefSelectorMatchExpressions {
    readonly key: string;
    readonly operator: string;
    readonly values?: string[];
}
export declare function toJson_ValidatingAdmissionPolicyBindingSpecParamRefSelectorMatchExpressions(obj: ValidatingAdmissionPolicyBindingSpecParamRefSelectorMatchExpressions | undefined): Record<string, any> | undefined;
