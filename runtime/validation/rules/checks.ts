/**
 * The check function of each rule. Pure.
 */
import { counted } from '../../platform/text/counted.ts'
import {
  collectionDisabled,
  invalidConfigMode,
  missingConfigMode,
  modeWithoutFolder,
  nestedCollection,
  parentCycle,
  parentDisabled,
  parentNotInheritable,
  reservedCollection,
  unexpectedParent,
  unknownCollectionKey,
  unknownParent,
} from './about-collections.ts'
import {
  belongsInMode,
  hostOrCredentialShared,
  invalidResourceJson,
  lfsPointer,
  listedFileMissing,
  misplacedType,
  missingAttributes,
  missingNameFolder,
  nameTooDeep,
  overrideForbidden,
  overrideIdentical,
  resourceInResource,
  simulatorInMode,
  staleSignature,
} from './about-resources.ts'
import {
  belongsInSomeMode,
  cacheCommitted,
  caseCollision,
  firstBootConflict,
  forbiddenName,
  hiddenByCore,
  localCommitted,
  missingResourceJson,
  missingSingletons,
  orphanFile,
  sharedTypeInMode,
  singletonOnlyInMode,
  singletonWithName,
} from './about-placement.ts'
import { keyCommitted, plainCredential } from './about-secrets.ts'
import {
  brokenSecret,
  duplicateUuid,
  invalidManifestField,
  machineIdentity,
  machineSetting,
  sameValueInModes,
  viewWithoutRoot,
  wrongShape,
} from './about-contents.ts'
import { missingReference } from './about-references.ts'
import { repeatedTag, tagTypeCycle, unknownTagType } from './about-tags.ts'
import { damagedFile, damagedMode, damageRules } from './about-json.ts'
import {
  invalidProjectJson,
  lostProjectResource,
  missingProjectJson,
  nestedProject,
  projectCycle,
  projectParentNotInheritable,
  sameProjectTitle,
  unknownProjectParent,
  unknownViews,
} from './about-projects.ts'
import { type Violation, inRoot, type ResourceCheck, type TreeCheck, type TreeFacts } from './input.ts'
import { type CrossFindings, namesOf, type Overview, overviewOf } from './overview.ts'
import type { RuleId } from './rules.ts'

/** More resources of one type than these are reported together. */
const maxSingle = 3

function* unlistedFile(overview: Overview): Generator<Violation> {
  const withFiles = overview.noted.filter(({ notes }) => notes?.unlisted !== undefined)
  for (const [type, all] of Map.groupBy(withFiles, ({ folder }) => folder.split('/').slice(0, 3).join('/'))) {
    const owner = overview.kind === 'projects' ? {} : { collection: all[0]?.collection ?? '' }
    if (all.length > maxSingle) {
      const count = all.reduce((sum, { notes }) => sum + (notes?.unlisted?.count ?? 0), 0)
      const message = `contains ${counted(count, 'file')} next to ${all.length} resources that list none of them, such as ${all[0]?.notes?.unlisted?.first.slice(0, 300)}: the gateway ignores them`
      yield { path: inRoot(overview, type), message, ...owner }
      continue
    }
    for (const { notes } of all) {
      const { count = 0, first = '' } = notes?.unlisted ?? {}
      const more = count === 1 ? '' : ` (and ${count - 1} more next to it)`
      yield { path: first, message: `is not listed in its resource.json${more}: the gateway ignores it`, ...owner }
    }
  }
}

/** Checks that need only names and the manifests of collections. */
export const treeChecks: readonly (readonly [RuleId, TreeCheck])[] = [
  ['missing-config-mode', missingConfigMode],
  ['nested-copy', nestedCollection],
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
  ['missing-singletons', missingSingletons],
  ['machine-identity-shared', machineIdentity],
  ['singleton-with-name', singletonWithName],
  ['misplaced-type', misplacedType],
  ['missing-name-folder', missingNameFolder],
  ['name-too-deep', nameTooDeep],
  ['shared-resource-in-mode', sharedTypeInMode],
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
  ['wrong-shape', wrongShape],
  ['broken-secret', brokenSecret],
  ['listed-file-missing', listedFileMissing],
  ['resource-in-resource', resourceInResource],
  ['lfs-pointer', lfsPointer],
  ['stale-signature', staleSignature],
  ['override-identical', overrideIdentical],
  ['override-forbidden', overrideForbidden],
  ['host-or-credential-shared', hostOrCredentialShared],
  ['plain-credential', plainCredential],
  ['belongs-in-mode', belongsInMode],
  ['machine-identity-shared', machineSetting],
  ['shared-resource-in-mode', simulatorInMode],
]

const betweenResources: readonly (readonly [RuleId, (overview: Overview) => Iterable<Violation>])[] = [
  ['missing-reference', missingReference],
  ['unknown-tag-type', unknownTagType],
  ['tag-type-cycle', tagTypeCycle],
  ['repeated-tag', repeatedTag],
  ['duplicate-uuid', duplicateUuid],
  ['same-value-in-modes', sameValueInModes],
  ['belongs-in-mode', belongsInSomeMode],
  ['unlisted-file', unlistedFile],
]

/** Checks between the resources of a root, based on the notes of each. */
export function crossFindings(facts: TreeFacts): CrossFindings {
  const names = namesOf(facts)
  const checks =
    facts.kind === 'collections'
      ? betweenResources
      : ([
          ['missing-reference', missingReference],
          ['unknown-view', unknownViews(facts)],
          ['unlisted-file', unlistedFile],
        ] as const)
  return function* (noted) {
    const overview = overviewOf(names, noted)
    for (const [rule, check] of checks) for (const found of check(overview)) yield [rule, found] as const
  }
}

export const projectChecks: readonly (readonly [RuleId, TreeCheck])[] = [
  ['missing-project-json', missingProjectJson],
  ['nested-copy', nestedProject],
  ['cache-committed', cacheCommitted],
  ['forbidden-name', forbiddenName],
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
  ['wrong-shape', wrongShape],
  ['broken-secret', brokenSecret],
  ['view-without-root', viewWithoutRoot],
  ['listed-file-missing', listedFileMissing],
  ['resource-in-resource', resourceInResource],
  ['lfs-pointer', lfsPointer],
]
