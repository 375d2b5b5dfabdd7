/**
 * The rules for resource collections, in one table: docs/rules.md is made of it. Defaults follow what a gateway does: error for what keeps a
 * gateway from starting or loses a resource, warning for what only smells. Pure.
 */

/** An error keeps a commit from being published where `spec.validation` enforces the checks; a warning never does. */
export type Severity = 'error' | 'warning'
/** `off`: nothing is reported, unless somebody raises it. */
export type Level = Severity | 'off'

type Rule = {
  severity: Level
  /** What is wrong, as a fact. */
  title: string
  /** What a gateway makes of it. */
  why: string
  /** What to do; also the `help` of each finding. */
  fix: string
}

/** Every rule by its id. */
export const rules = {
  'missing-config-mode': {
    severity: 'error',
    title: 'A folder of the collections root has files but no `config-mode.json`.',
    why: 'For `external` and `local` the gateway does not start ("Resource collection path … exists but is not empty"); any other folder is no collection, and its resources vanish. Only a warning where no folder at all has one: then the files are likely laid over a whole tree. Nothing is told where such a tree stands elsewhere in the repository.',
    fix: 'Add a config-mode.json (cluster-sync mode new shows one) or remove the folder.',
  },
  'invalid-config-mode': {
    severity: 'error',
    title: 'A `config-mode.json` is not JSON, or lacks a field, or a field is of another type.',
    why: 'The folder is not read as a collection.',
    fix: 'Correct it where the line shows; title, description and parent are text, enabled and inheritable true or false.',
  },
  'unknown-collection-key': {
    severity: 'warning',
    title: 'A `config-mode.json` has a key that is none of its five.',
    why: 'Likely a misspelt field; the gateway does not read it.',
    fix: 'Keep only title, description, enabled, inheritable and parent.',
  },
  'unknown-parent': {
    severity: 'error',
    title: 'A collection names a parent that does not exist.',
    why: '`system`, `external` and `core` always exist; every other parent must be a collection of the same root.',
    fix: 'Name an existing collection as parent, usually core.',
  },
  'unexpected-parent': {
    severity: 'warning',
    title: '`external` or `core` has another parent than the usual one.',
    why: 'Every gateway writes `system` for `external` and `external` for `core`; what it makes of another is not known.',
    fix: 'Set the parent of external to system, that of core to external.',
  },
  'parent-cycle': {
    severity: 'error',
    title: 'The parents of collections form a cycle.',
    why: 'No order of inheritance exists.',
    fix: 'Let one of them inherit from core.',
  },
  'parent-disabled': {
    severity: 'warning',
    title: 'A collection inherits from one with `enabled: false`.',
    why: 'What the parent holds may be missing.',
    fix: 'Enable the parent, or inherit from another collection.',
  },
  'parent-not-inheritable': {
    severity: 'error',
    title: 'A collection inherits from one with `inheritable: false`.',
    why: 'The parent refuses to be inherited from.',
    fix: 'Set inheritable to true in the parent, or inherit from another collection.',
  },
  'collection-disabled': {
    severity: 'warning',
    title: 'A collection has `enabled: false`.',
    why: 'A gateway may ignore it. Where others inherit from it, they say so instead.',
    fix: 'Set enabled to true.',
  },
  'mode-without-folder': {
    severity: 'warning',
    title: 'A gateway runs with a mode that the commit has no folder for.',
    why: 'Nothing is overridden: the gateway runs with the values of `core`.',
    fix: 'Add the folder (cluster-sync mode new), or start the gateway with an existing mode.',
  },
  'reserved-collection': {
    severity: 'warning',
    title: 'There is a folder named `system`.',
    why: 'That collection is built into the gateway and cannot be replaced.',
    fix: 'Move its resources to external or core.',
  },
  'singleton-only-in-mode': {
    severity: 'error',
    title: 'A singleton exists in a deployment mode, but neither in `core` nor in `external`.',
    why: 'A mode may override a singleton but not create it; the gateway does not start. A warning where `core` is not delivered, for then the gateway has its own.',
    fix: 'Add the singleton to core (a copy of the one in the mode will do).',
  },
  'singleton-with-name': {
    severity: 'warning',
    title: 'A folder with a name stands below a type of which a gateway has exactly one.',
    why: 'The gateway looks for the manifest directly in the folder of the type.',
    fix: 'Move the files one folder up.',
  },
  'misplaced-type': {
    severity: 'warning',
    title: 'The folder of a module or a type is likely misspelt, forgotten, or the wrong one.',
    why: 'Resources stand in `<collection>/<module>/<type>/<name>`. A gateway does not look for them anywhere else.',
    fix: 'Move the resources to the place that is named. Where a module of your own has that type, set the rule to off for its folder.',
  },
  'missing-name-folder': {
    severity: 'warning',
    title: 'A `resource.json` stands directly in the folder of a type whose resources have names.',
    why: 'The gateway reads it as the only resource of that type, which this type does not have.',
    fix: 'Move the files into a folder with the name of the resource: `ignition/database-connection/historian/resource.json`.',
  },
  'name-too-deep': {
    severity: 'warning',
    title: 'A resource stands in a folder below the one with its name.',
    why: 'Names nest only in `images`, `tag-definition`, `tag-type-definition` and `tag-group`.',
    fix: 'Move the files into the folder directly below the type.',
  },
  'environment-resource-in-core': {
    severity: 'warning',
    title: 'A resource that differs between environments stands in `core`.',
    why: 'Some modes override this database connection, remote tag provider, alarm journal, gateway network connection, identity provider or user source, and the others run with the one of `core`. No finding where no mode overrides it, or every one does.',
    fix: 'Override it in the other deployment modes too.',
  },
  'host-or-credential-in-core': {
    severity: 'warning',
    title: 'A resource of `core` holds a host, an address or a credential.',
    why: 'The value of one environment reaches all of them. What every gateway has (loopback, multicast, its own OPC UA connection, …) does not count, nor does what every mode overrides, nor a repository without modes. A value that a gateway encrypted is no secret as long as its header names no custom key (`kid`): the default key is the same in every installation.',
    fix: 'Move the resource to the deployment modes, or override it in each of them.',
  },
  'plain-credential': {
    severity: 'warning',
    title: 'A password stands in plain text.',
    why: 'Everybody who can read the repository, or any copy of it, has the password, also after it was removed: git keeps it. Hosts and credentials of `core` are told together by `host-or-credential-in-core`.',
    fix: 'Change the password at its system, and keep the new one in a secret provider or let the gateway encrypt it.',
  },
  'key-committed': {
    severity: 'warning',
    title: 'A key that gateways encrypt secrets with is in the repository.',
    why: 'Whoever reads `config/ignition/keys` reads every secret that was encrypted with it. The folder is never delivered.',
    fix: 'Remove the folder and add it to .gitignore, and make new keys: git keeps the old ones.',
  },
  'shared-resource-in-mode': {
    severity: 'warning',
    title: 'A resource that is the same in every environment stands in a deployment mode.',
    why: 'Tag definitions, tag types, translations and simulated devices drift apart when each mode has its own. A simulator in one mode that stands for a real device in another does not count.',
    fix: 'Move it to core.',
  },
  'missing-in-mode': {
    severity: 'warning',
    title: 'A resource exists in some deployment modes, but neither in `core` nor in the others.',
    why: 'Gateways of the other modes have no such resource, and whatever names it fails there. Told of what others name or a plant counts on: databases, historians, journals, providers, profiles and schedules. Devices and images may well belong to one plant.',
    fix: 'Add it to the deployment modes that lack it, or a common one to core.',
  },
  'missing-reference': {
    severity: 'warning',
    title: 'A resource names another one that its gateways do not have.',
    why: 'An alarm journal, historian, audit profile or tag provider whose database connection is missing stores nothing; a secret whose provider is missing cannot be read; nobody is logged in by a missing user source or identity provider; tags whose tag provider is missing do not exist. Judged for each deployment mode. What every gateway brings itself does not count.',
    fix: 'Correct the name, or add what it names to core or to the deployment modes that lack it.',
  },
  'unknown-tag-type': {
    severity: 'warning',
    title: 'A tag is made of a type that its tag provider does not have.',
    why: 'The instance has no members: its tags are in error. No finding where a tag provider has no types at all, for then they come from elsewhere.',
    fix: 'Correct the typeId, or add the type to the tag-type-definition of the provider.',
  },
  'duplicate-uuid': {
    severity: 'warning',
    title: 'Two resources of one collection have the same uuid.',
    why: 'The folder of one was copied to make the other. A gateway tells such resources apart by their uuid, and may take one for the other.',
    fix: 'Give the copy a new uuid in its resource.json, and run cluster-sync sign on it.',
  },
  'same-target-in-modes': {
    severity: 'warning',
    title: 'A database connection, historian or device talks to the same machine in two deployment modes.',
    why: 'Modes exist to keep environments apart: a test that writes to the database or PLC of production is no test. Addresses of the gateway itself do not count, nor do names without a dot, which each network may resolve otherwise.',
    fix: 'Correct the address in one of the modes, or move a connection that is meant to be shared to core.',
  },
  'invalid-resource-json': {
    severity: 'error',
    title: 'A `resource.json` is not a JSON object with a list of files.',
    why: 'The gateway cannot read the resource.',
    fix: 'Correct the file; every other resource.json shows the form.',
  },
  'merge-conflict': {
    severity: 'error',
    title: 'A file holds the marks of a merge conflict.',
    why: 'Somebody committed a merge before it was resolved. The gateway cannot read the file: the resource is lost.',
    fix: 'Resolve the conflict: keep one of the two sides, remove the lines with <<<<<<<, ======= and >>>>>>>, and sign the resource.',
  },
  'zero-bytes': {
    severity: 'error',
    title: 'A file holds zero bytes.',
    why: 'A machine that loses its power often leaves such files. The gateway cannot read them: the resource is lost.',
    fix: 'Take the file from an earlier commit, or export it from the gateway again.',
  },
  'not-utf-8': {
    severity: 'error',
    title: 'A file is UTF-16 or otherwise not UTF-8.',
    why: 'Gateways read UTF-8. Shells and editors of Windows write UTF-16 unless they are told otherwise.',
    fix: 'Save the file as UTF-8 without a byte order mark, and sign the resource.',
  },
  'byte-order-mark': {
    severity: 'warning',
    title: 'A JSON file begins with a byte order mark.',
    why: 'JSON has none, and no gateway writes one; what it makes of the file is not known.',
    fix: 'Save the file as UTF-8 without a byte order mark, and sign the resource.',
  },
  'empty-file': {
    severity: 'error',
    title: 'A JSON file is empty.',
    why: 'The gateway cannot read it: the resource is lost.',
    fix: 'Take the file from an earlier commit, or write {} where nothing is to be set.',
  },
  'truncated-json': {
    severity: 'error',
    title: 'A JSON file ends before it is complete.',
    why: 'The end is lost, as after an interrupted copy. The gateway cannot read the file: the resource is lost.',
    fix: 'Take the file from an earlier commit, or export it from the gateway again.',
  },
  'invalid-json': {
    severity: 'error',
    title: 'A JSON file of a resource is not JSON.',
    why: 'The gateway cannot read it: the resource is lost. Only a warning where the fault is the mark of a template, for the file may be rendered before it is delivered.',
    fix: 'Correct the line that is named, and sign the resource.',
  },
  'duplicate-key': {
    severity: 'warning',
    title: 'An object of a JSON file has the same key twice.',
    why: 'One of the two values is ignored, and nothing tells which.',
    fix: 'Remove one of the two lines, and sign the resource.',
  },
  'missing-attributes': {
    severity: 'error',
    title: 'A `resource.json` has no `attributes`.',
    why: 'A gateway that starts anew fails with a NullPointerException.',
    fix: 'Add "attributes": {}.',
  },
  'invalid-manifest-field': {
    severity: 'warning',
    title: 'A field of a `resource.json` holds what no gateway writes there.',
    why: 'Looked at are `scope` (letters of A, G, D, C), `version` (a whole number), `restricted` and `overridable` (true or false), and the time of `lastModification`. What a gateway makes of another value is not known; `"overridable": "false"` is likely to be read as true.',
    fix: 'Write the field as in every other resource.json, and run cluster-sync sign on the resource.',
  },
  'listed-file-missing': {
    severity: 'error',
    title: 'A `resource.json` lists a file that is not there.',
    why: 'NoSuchFileException: the resource is lost. Only a warning for `backupConfig.json`, which gateways do without. Symbolic links are never delivered, so a link is no file.',
    fix: 'Add the file (does git ignore it, or is it a link?) or take it from "files".',
  },
  'unlisted-file': {
    severity: 'warning',
    title: 'A file stands beside a `resource.json` that does not list it.',
    why: 'It is no part of the resource; the gateway ignores it.',
    fix: 'Add it to "files" or remove it.',
  },
  'lfs-pointer': {
    severity: 'error',
    title: 'A file of a resource is a pointer of Git LFS.',
    why: 'What LFS stores elsewhere is not fetched: the gateway would read the text of the pointer as the content.',
    fix: 'Keep the file in git itself: run git lfs untrack with its pattern, then git add --renormalize with the file, and commit.',
  },
  'missing-resource-json': {
    severity: 'warning',
    title: 'A folder in the place of a resource has files but no `resource.json`.',
    why: 'The gateway does not see the resource.',
    fix: 'Add a resource.json, or a unary-resource.json where the message names it (copy that of another resource of the same type and run cluster-sync sign) or remove the folder.',
  },
  'stale-signature': {
    severity: 'warning',
    title: 'The signature in a `resource.json` does not match the content.',
    why: 'The resource was changed after a gateway wrote it: by hand, or by an editor or git that changed line ends or the last newline. A scan may skip the change.',
    fix: 'Run cluster-sync sign on the resource.',
  },
  'override-identical': {
    severity: 'warning',
    title: 'An override equals what it overrides.',
    why: 'It changes nothing now, and hides later changes of its base.',
    fix: 'Remove the override.',
  },
  'override-forbidden': {
    severity: 'warning',
    title: 'An override of a resource with `overridable: false`.',
    why: 'What a gateway makes of it is not known.',
    fix: 'Remove the override, or set overridable to true in the base.',
  },
  'first-boot-conflict': {
    severity: 'off',
    title: '`core` holds a resource that a gateway creates at its first boot.',
    why: 'Off by default, for nearly every repository has them. `gateway-network-queue-settings`, `gateway-network-proxy-rules` and `quickstart` cause "PushConflictException: CREATE conflict" at each start, which is not fatal; with `one-time` the OPC UA user source and connection are not created.',
    fix: 'Leave it out of the repository, or name it in `excludePatterns` of the profile, relative to the collection: `ignition/quickstart`, not `core/ignition/quickstart`.',
  },
  'missing-project-json': {
    severity: 'error',
    title: 'A folder of a project has resources but no `project.json`.',
    why: 'The gateway does not see the project.',
    fix: 'Add a project.json with title, description, enabled, inheritable and parent, or remove the folder.',
  },
  'invalid-project-json': {
    severity: 'error',
    title: 'A `project.json` is not a JSON object, or a field of it is of another type.',
    why: 'The gateway does not see the project.',
    fix: 'Write title, description and parent as text, enabled and inheritable as true or false.',
  },
  'unknown-project-parent': {
    severity: 'warning',
    title: 'A project inherits from one that is not there.',
    why: 'Unless the gateway has the parent from elsewhere, the project is invalid: what it inherits is missing, and it does not run.',
    fix: 'Correct the name (it is that of the folder, letter for letter), or add the parent to the repository.',
  },
  'project-parent-not-inheritable': {
    severity: 'error',
    title: 'A project inherits from one with `inheritable: false`.',
    why: 'The parent refuses to be inherited from, and the project is invalid.',
    fix: 'Set inheritable to true in the project.json of the parent.',
  },
  'project-cycle': {
    severity: 'error',
    title: 'The parents of projects form a cycle.',
    why: 'No order of inheritance exists, and none of these projects is valid.',
    fix: 'Let one of them inherit from none of the others.',
  },
  'same-project-title': {
    severity: 'warning',
    title: 'The titles of two projects differ only in case.',
    why: 'People choose projects by their titles, and will open the wrong one.',
    fix: 'Give one of them another title.',
  },
  'unknown-view': {
    severity: 'warning',
    title: 'A page, a dock or a view shows a view that does not exist.',
    why: 'Operators see "View not found" in its place. Judged against the project and all that it inherits from; paths that are bound or put together while a session runs are not looked at.',
    fix: 'Correct the path, or add the view.',
  },
  'script-syntax': {
    severity: 'warning',
    title: 'A script of a project library cannot be Python 2.7.',
    why: 'A bracket, a text or a block is not whole: whatever calls the script fails. What else Python would refuse is not looked for.',
    fix: 'Correct the line that is named.',
  },
  'hidden-in-external': {
    severity: 'warning',
    title: '`external` holds a resource that a copy in `core` hides.',
    why: 'The gateway makes its own security properties and tag types in `core`, and `core` wins.',
    fix: 'Move it to core.',
  },
  'cache-committed': {
    severity: 'warning',
    title: 'The cache `.resources` is in the repository.',
    why: 'The gateway rebuilds it; it is not delivered.',
    fix: 'Remove the folder and add .resources/ to .gitignore.',
  },
  'local-committed': {
    severity: 'warning',
    title: 'The collection `local` is in the repository.',
    why: 'It holds the identity of one machine: keystores, uuid. It is not delivered.',
    fix: 'Remove the folder and add it to .gitignore.',
  },
  'forbidden-name': {
    severity: 'warning',
    title: 'A name has a character or a form that gateways do not accept.',
    why: 'Forbidden are the backtick and the characters / \\ ? * : | " < >, a space or period at either end, a hyphen at the start, and 255 bytes or more.',
    fix: 'Rename it; where the name is right, encode the character with %.',
  },
  'case-collision': {
    severity: 'error',
    title: 'Two names differ only in case.',
    why: 'The gateway keys names without case: one of the two is lost.',
    fix: 'Rename or remove one of them.',
  },
  'orphan-file': {
    severity: 'warning',
    title: 'A file stands outside of any resource.',
    why: 'The gateway ignores it.',
    fix: 'Move it out of the collections root or remove it.',
  },
} as const satisfies Record<string, Rule>

/** The name that reports, settings and docs/rules.md know a rule by. */
export type RuleId = keyof typeof rules

/** In the order of the table. */
export const ruleIds = Object.keys(rules) as RuleId[]

/** Whether a text from outside names a rule. */
export function isRuleId(text: string): text is RuleId {
  return Object.hasOwn(rules, text)
}
