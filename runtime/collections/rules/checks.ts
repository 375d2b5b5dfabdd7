/**
 * Which function finds the violations of which rule. Pure.
 */
import {
  collectionDisabled,
  invalidConfigMode,
  missingConfigMode,
  modeWithoutFolder,
  parentCycle,
  parentDisabled,
  parentNotInheritable,
  reservedCollection,
  unexpectedParent,
  unknownCollectionKey,
  unknownParent,
} from './about-collections.ts'
import {
  environmentResourceInCore,
  hostOrCredentialInCore,
  invalidResourceJson,
  lfsPointer,
  listedFileMissing,
  missingAttributes,
  overrideForbidden,
  overrideIdentical,
  simulatorInMode,
  staleSignature,
  unlistedFile,
} from './about-resources.ts'
import {
  cacheCommitted,
  caseCollision,
  firstBootConflict,
  forbiddenName,
  hiddenByCore,
  localCommitted,
  missingResourceJson,
  orphanFile,
  sharedTypeInMode,
  singletonOnlyInMode,
  singletonWithName,
} from './about-placement.ts'
import { invalidManifestField } from './about-manifests.ts'
import { keyCommitted, plainCredential } from './about-secrets.ts'
import { missingInMode } from './about-modes.ts'
import { duplicateUuid, missingReference, sameTarget, unknownTagType } from './about-references.ts'
import { damagedFile, damagedMode, damageRules } from './about-json.ts'
import { misplacedType, missingNameFolder, nameTooDeep } from './about-places.ts'
import {
  invalidProjectJson,
  lostProjectResource,
  missingProjectJson,
  projectCycle,
  projectParentNotInheritable,
  sameProjectTitle,
  scriptSyntax,
  unknownProjectParent,
} from './about-projects.ts'
import type { Found, ResourceCheck, TreeCheck, TreeFacts } from './input.ts'
import { type CrossFindings, namesOf, type Overview, overviewOf } from './overview.ts'
import type { RuleId } from './rules.ts'

/** Checks that need no more than names and the manifests of collections. */
export const treeChecks: readonly (readonly [RuleId, TreeCheck])[] = [
  ['missing-config-mode', missingConfigMode],
  ['invalid-config-mode', invalidConfigMode],
  ...damageRules.map((kind) => [kind, damagedMode(kind)] as const),
  ['unknown-collection-key', unknownCollectionKey],
  ['unknown-parent', unknownParent],
  ['unexpected-parent', unexpectedParent],
  ['parent-cycle', parentCycle],
  ['parent-disabled', parentDisabled],
  ['parent-not-inheritable', parentNotInheritable],
  ['collection-disabled', collectionDisabled],
  ['mode-without-folder', modeWithoutFolder],
  ['reserved-collection', reservedCollection],
  ['singleton-only-in-mode', singletonOnlyInMode],
  ['singleton-with-name', singletonWithName],
  ['misplaced-type', misplacedType],
  ['missing-name-folder', missingNameFolder],
  ['name-too-deep', nameTooDeep],
  ['shared-resource-in-mode', sharedTypeInMode],
  ['missing-in-mode', missingInMode],
  ['first-boot-conflict', firstBootConflict],
  ['hidden-in-external', hiddenByCore],
  ['cache-committed', cacheCommitted],
  ['local-committed', localCommitted],
  ['key-committed', keyCommitted],
  ['forbidden-name', forbiddenName],
  ['case-collision', caseCollision],
  ['missing-resource-json', missingResourceJson],
  ['orphan-file', orphanFile],
]

/** Checks of each resource and its content. */
export const resourceChecks: readonly (readonly [RuleId, ResourceCheck])[] = [
  ['invalid-resource-json', invalidResourceJson],
  ...damageRules.map((kind) => [kind, damagedFile(kind)] as const),
  ['missing-attributes', missingAttributes],
  ['invalid-manifest-field', invalidManifestField],
  ['listed-file-missing', listedFileMissing],
  ['unlisted-file', unlistedFile],
  ['lfs-pointer', lfsPointer],
  ['stale-signature', staleSignature],
  ['override-identical', overrideIdentical],
  ['override-forbidden', overrideForbidden],
  ['host-or-credential-in-core', hostOrCredentialInCore],
  ['plain-credential', plainCredential],
  ['environment-resource-in-core', environmentResourceInCore],
  ['shared-resource-in-mode', simulatorInMode],
]

const betweenResources: readonly (readonly [RuleId, (overview: Overview) => Iterable<Found>])[] = [
  ['missing-reference', missingReference],
  ['unknown-tag-type', unknownTagType],
  ['duplicate-uuid', duplicateUuid],
  ['same-target-in-modes', sameTarget],
]

/** Checks between the resources of collections, of what was noted of each. */
export function crossFindings(facts: TreeFacts): CrossFindings {
  const names = namesOf(facts)
  return function* (noted) {
    const overview = overviewOf(names, noted)
    for (const [rule, check] of betweenResources) for (const found of check(overview)) yield [rule, found] as const
  }
}

export const projectChecks: readonly (readonly [RuleId, TreeCheck])[] = [
  ['missing-project-json', missingProjectJson],
  ['invalid-project-json', invalidProjectJson],
  ...damageRules.map((kind) => [kind, damagedMode(kind)] as const),
  ['unknown-project-parent', unknownProjectParent],
  ['project-parent-not-inheritable', projectParentNotInheritable],
  ['project-cycle', projectCycle],
  ['same-project-title', sameProjectTitle],
  ['case-collision', caseCollision],
  ['missing-resource-json', lostProjectResource],
]

export const projectResourceChecks: readonly (readonly [RuleId, ResourceCheck])[] = [
  ['invalid-resource-json', invalidResourceJson],
  ...damageRules.map((kind) => [kind, damagedFile(kind)] as const),
  ['missing-attributes', missingAttributes],
  ['invalid-manifest-field', invalidManifestField],
  ['listed-file-missing', listedFileMissing],
  ['unlisted-file', unlistedFile],
  ['lfs-pointer', lfsPointer],
  ['script-syntax', scriptSyntax],
]
