/**
 * Rules about collections: their folders, their manifests, their inheritance. Pure.
 */
import type { Rule } from './rule.ts'

const modesPage = "the vendor's page on deployment modes"

export const collectionRules = {
  'missing-config-mode': {
    severity: 'error',
    title: 'A folder of the collections root has files but no `config-mode.json`.',
    why: 'For `external` and `local` the gateway does not start ("Resource collection path … exists but is not empty"); any other folder is not a collection, and its resources are lost. A warning where no folder has one, because then the files are probably merged into a complete tree; no finding where such a tree is elsewhere in the repository.',
    fix: 'Add a config-mode.json (cluster-sync mode new creates one) or remove the folder.',
    evidence:
      'Reported: a public deployment failed to start and was repaired by adding the file. For other folders it follows from how gateways find collections.',
  },
  'nested-copy': {
    severity: 'error',
    title: 'Collections or a project are in a folder of the same kind, one folder too deep.',
    why: 'The gateway looks for `config-mode.json` and `project.json` in one place only. Everything below is delivered but not loaded.',
    fix: 'Move the files one folder up and remove the empty folder.',
    evidence: 'By definition: the places are fixed. It happens when a folder is copied into itself.',
  },
  'invalid-config-mode': {
    severity: 'error',
    title: 'A `config-mode.json` is not a JSON object, or a field is missing or has the wrong type.',
    why: 'The gateway does not read the folder as a collection: its resources are lost.',
    fix: 'Correct the JSON syntax at the line shown, such as a missing or extra comma. Title, description and parent are strings, enabled and inheritable are true or false.',
    evidence: `Documented: the five fields are on ${modesPage}. The effect is assumed; none of 112 public files is invalid.`,
  },
  'unknown-collection-key': {
    severity: 'warning',
    title: 'A `config-mode.json` has an unknown key.',
    why: 'It is probably a misspelled field. The gateway does not read it.',
    fix: 'Keep only title, description, enabled, inheritable and parent.',
    evidence: 'Observed: all of 112 public files have exactly these five keys.',
  },
  'unknown-parent': {
    severity: 'error',
    title: 'A collection names a parent that does not exist.',
    why: '`system`, `external` and `core` always exist; any other parent must be a collection of the same root. The inherited resources are missing.',
    fix: 'Name an existing collection as the parent, usually core.',
    evidence: `Documented: ${modesPage}.`,
  },
  'unexpected-parent': {
    severity: 'warning',
    title: '`external` or `core` has an unusual parent.',
    why: 'Every gateway writes `system` for `external` and `external` for `core`; how it handles another parent is unknown.',
    fix: 'Set the parent of external to system, and that of core to external.',
    evidence: 'Observed: every public collection has these parents.',
  },
  'parent-cycle': {
    severity: 'error',
    title: 'The parents of collections form a cycle.',
    why: 'There is no order of inheritance, so no collection in the cycle can be read.',
    fix: 'Make one of them inherit from core.',
    evidence: 'By definition: inheritance needs an order.',
  },
  'parent-disabled': {
    severity: 'warning',
    title: 'A collection inherits from one with `enabled: false`.',
    why: 'The resources of the parent may be missing.',
    fix: 'Enable the parent, or inherit from another collection.',
    evidence: 'Assumed: no public tree has this.',
  },
  'parent-not-inheritable': {
    severity: 'error',
    title: 'A collection inherits from one with `inheritable: false`.',
    why: 'The parent does not permit inheritance.',
    fix: 'Set inheritable to true in the parent, or inherit from another collection.',
    evidence: `Documented: ${modesPage}.`,
  },
  'collection-disabled': {
    severity: 'warning',
    title: 'A collection has `enabled: false`.',
    why: 'A gateway may ignore it. If other collections inherit from it, they have the finding instead.',
    fix: 'Set enabled to true.',
    evidence: 'Assumed: no public tree has this.',
  },
  'mode-without-folder': {
    severity: 'warning',
    title: 'A gateway runs in a mode that has no folder in the commit.',
    why: 'Nothing is overridden: the gateway runs with the values of `core`.',
    fix: 'Add the folder (cluster-sync mode new), or start the gateway in an existing mode.',
    evidence: 'By definition: a mode is its folder.',
  },
  'reserved-collection': {
    severity: 'warning',
    title: 'There is a folder named `system`.',
    why: 'That collection is built into the gateway and cannot be replaced.',
    fix: 'Move its resources to external or core.',
    evidence: `Documented: ${modesPage}.`,
  },
  'local-committed': {
    severity: 'warning',
    title: 'The collection `local` is in the repository.',
    why: 'It contains the identity of one machine, such as key stores and UUIDs. It is not delivered.',
    fix: 'Remove the folder and add it to .gitignore.',
    evidence: 'Observed: 9 of 36 public repositories have it; the vendor describes the folder as host-specific.',
  },
  'cache-committed': {
    severity: 'warning',
    title: 'The cache `.resources` is in the repository.',
    why: 'The gateway rebuilds it. It is not delivered, and it doubles the size of the repository.',
    fix: 'Remove the folder and add .resources/ to .gitignore.',
    evidence: 'Observed: 7 of 36 public repositories have it, and gateways write it again.',
  },
  'case-collision': {
    severity: 'error',
    title: 'Two names differ only in case.',
    why: 'Gateways ignore case in names: one of the two is lost.',
    fix: 'Rename or remove one of them.',
    evidence: "Observed: the vendor's own reader of these folders ignores case in names.",
  },
  'forbidden-name': {
    severity: 'warning',
    title: 'A name has a character or a form that gateways do not accept.',
    why: 'Names must not contain a backtick or one of / \\ ? * : | " < >, begin or end with a space or period, begin with a hyphen, or have 255 bytes or more. Names of projects are not checked, because many that break these rules work.',
    fix: 'Rename it. If the name needs the character, percent-encode it.',
    evidence: "Documented: the vendor's rules for names.",
  },
  'orphan-file': {
    severity: 'warning',
    title: 'A file is outside any resource.',
    why: 'The gateway ignores it.',
    fix: 'Move it out of the collections root, or remove it.',
    evidence: 'By definition: only resources are read.',
  },
} as const satisfies Record<string, Rule>
