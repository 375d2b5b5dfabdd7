/**
 * Rows about projects.
 */
import type { RuleId } from '../../../runtime/collections/rules/rules.ts'
import type { Files } from '../collection-tree.ts'
import { embedded, pages, perspective, projectJson, projectResource, projectRoot, script, validProjects, view } from '../project-tree.ts'
import type { Row } from './row.ts'

const options = { root: projectRoot, kind: 'projects' } as const
const conflict = '<<<<<<< HEAD\na = 1\n=======\na = 2\n>>>>>>> other\n'
const library = 'library/ignition/script-python/plant/sums'
const overview = `line-a/${perspective}/views/Overview`

function row(fault: string, changes: Record<string, string | null> | Files, ...findings: string[]): Row {
  const files = validProjects()
  for (const [path, content] of Object.entries(changes)) {
    const full = path.startsWith(projectRoot) ? path : `${projectRoot}/${path}`
    if (content === null) delete files[full]
    else files[full] = content
  }
  const told = findings.map((finding) => finding.replace(/^(\w+ [\w-]+) /, `$1 ${projectRoot}/`))
  return { fault, files, findings: told, options, isAlone: true }
}

const scriptRow = (fault: string, code: string, isFault = true): Row =>
  row(fault, { [`${library}/code.py`]: code }, ...(isFault ? [`warning script-syntax ${library}/code.py`] : []))
const shown = (fault: string, child: object, ...findings: string[]): Row => row(fault, view(overview, child), ...findings)

export const projects = {
  'missing-project-json': [
    row('a project without manifest', { 'line-b/project.json': null }, 'error missing-project-json line-b'),
    row('a folder without resources is none', { 'notes/readme.md': 'x' }),
  ],
  'invalid-project-json': [
    row(
      'not JSON, so that nobody knows what it inherits',
      { 'base/project.json': '{', ...pages('base', 'Inherited') },
      'error invalid-project-json base/project.json',
    ),
    row('not JSON', { 'line-b/project.json': '{' }, 'error invalid-project-json line-b/project.json'),
    row('a list', { 'line-b/project.json': '[]' }, 'error invalid-project-json line-b/project.json'),
    row('enabled as text', { 'line-b/project.json': '{"enabled":"yes"}' }, 'error invalid-project-json line-b/project.json'),
    row('a manifest of an earlier version has less in it', { 'line-b/project.json': '{"title":"Line B","parent":"base"}' }),
  ],
  'unknown-project-parent': [
    row('a parent that is gone', { 'line-b/project.json': projectJson('B', 'bass') }, 'warning unknown-project-parent line-b/project.json'),
    row('in another case', { 'line-b/project.json': projectJson('B', 'Base') }, 'warning unknown-project-parent line-b/project.json'),
    row(
      'a parent that only lacks its project.json, which another rule says',
      { 'base/project.json': null },
      'error missing-project-json base',
    ),
  ],
  'project-parent-not-inheritable': [
    row(
      'a line as parent',
      { 'line-b/project.json': projectJson('B', 'line-a') },
      'error project-parent-not-inheritable line-b/project.json',
    ),
  ],
  'project-cycle': [
    row(
      'two that inherit from each other',
      { 'library/project.json': projectJson('Library', 'base', { inheritable: true }) },
      'error project-cycle base/project.json',
    ),
    row(
      'one that inherits from itself',
      { 'base/project.json': projectJson('Base', 'base', { inheritable: true }) },
      'error project-cycle base/project.json',
    ),
  ],
  'same-project-title': [
    row(
      'titles in another case',
      { 'line-b/project.json': projectJson('LINE A', 'base') },
      'warning same-project-title line-b/project.json',
    ),
    row('a copy with the same title', { 'line-b/project.json': projectJson('Line A', 'base') }),
  ],
  'unknown-view': [
    row('a page', pages('line-b', 'Gone'), `warning unknown-view line-b/${perspective}/page-config`),
    row('a dock', pages('line-b', 'Overview', 'Docks/Gone'), `warning unknown-view line-b/${perspective}/page-config`),
    shown('an embedded view', embedded('Pumps'), `warning unknown-view ${overview}`),
    shown('a repeated view', { type: 'ia.display.flex-repeater', props: { path: 'Pumps' } }, `warning unknown-view ${overview}`),
    shown(
      'the views of a carousel',
      { type: 'ia.display.carousel', props: { views: [{ viewPath: 'Pump' }, { viewPath: 'Pumps' }] } },
      `warning unknown-view ${overview}`,
    ),
    shown(
      'a popup',
      { type: 'ia.input.button', events: { component: { onActionPerformed: [{ type: 'popup', config: { viewPath: 'Pumps' } }] } } },
      `warning unknown-view ${overview}`,
    ),
    shown('in another case, without a place, of a parameter', embedded('pump')),
    shown('a path that is bound', embedded('Old', { propConfig: { 'props.path': { binding: { type: 'property' } } } })),
    shown('properties that are bound as a whole', embedded('Old', { propConfig: { props: { binding: { type: 'property' } } } })),
    shown('a path in an expression', embedded('{view.params.path}')),
    row(
      'what may be inherited from elsewhere',
      { 'base/project.json': projectJson('Base', 'elsewhere', { inheritable: true }) },
      'warning unknown-project-parent base/project.json',
    ),
  ],
  'script-syntax': [
    scriptRow('a bracket that is not closed', 'a = (1,\nb = 2\n'),
    scriptRow('a bracket that closes another', 'a = (1]\n'),
    scriptRow('a text that is not closed', "a = 'x\nb = 2\n"),
    scriptRow('a text of several lines that is not closed', 'a = """x\nb = 2\n'),
    scriptRow('no block', 'def a():\nb = 2\n'),
    scriptRow('the end of a file in place of a block', 'def a():\n'),
    scriptRow('no colon', 'def a()\n\treturn 1\n'),
    scriptRow('an indent without a reason', 'a = 1\n\tb = 2\n'),
    scriptRow('an indent like no other', 'if a:\n        b = 2\n    c = 3\n'),
    scriptRow('a character of no language', 'a = 5 $ 3\n'),
    scriptRow('what Python 2.7 takes', `# é\r\nprint >>f, \`a\`, 0777L,\\\n  u'é' # (\nexec 'x' in {}\n${script}`, false),
    scriptRow('nothing', '', false),
    scriptRow('a misspelt word', 'def a():\n\tretrun 1\n'),
    scriptRow('two names in a row', 'print a b\n'),
    scriptRow('a name and a number', 'range 3\n'),
    scriptRow('an expression without its end', 'a = 1 +\n'),
    scriptRow('an assignment in place of a comparison', 'if a = 1:\n\tb\n'),
    scriptRow('an else that belongs to nothing', 'a = 1\nelse:\n\tb\n'),
    scriptRow('a finally after an if', 'if a:\n\tb\nfinally:\n\tc\n'),
    scriptRow('a try without except', 'try:\n\ta\nb = 1\n'),
    scriptRow('a try without except at the end of a block', 'def a():\n\ttry:\n\t\tb\nc\n'),
    scriptRow('a try without except at the end', 'try:\n\ta\n'),
    scriptRow('an operator before a bracket that closes', 'a = [1, 2 + ]\n'),
    scriptRow('two signs of an assignment', 'a = = 1\n'),
    scriptRow('a misspelt head of a block', 'esle:\n\ta\n'),
    scriptRow('a head of a block without what it is about', 'while:\n\ta\n'),
    scriptRow('a word that asks for more at the end', 'a = b and\n'),
    scriptRow('a statement that begins on the next line', '\\\nif a:\n\tb\n', false),
    scriptRow('words as names of members, as Jython takes them', 'a = System.in\nb.exec(c)\nd.print.import = e\n', false),
    scriptRow(
      'statements that go on',
      `try:\n\ta\nexcept A, b:\n\tc\nexcept:\n\td\nelse:\n\te\nfinally:\n\tf
for a in b:\n\tc\nelse:\n\td\nwhile a: b\nelse: c\nif a == 1 and b <= 2 and c(d=3): e = 4\nelif f: g\nelse: h
from a import *\nb = 1.\nc = not d\ne = lambda f=1: f if f is not None else 1 if g else 2\nprint 'h', ur'i' 'j', \\\n  k\nexec l in m\n`,
      false,
    ),
  ],
} satisfies Partial<Record<RuleId, Row[]>>

/** Rules that hold for collections and projects. */
export const shared: Partial<Record<RuleId, Row[]>> = {
  'merge-conflict': [
    row('in a script', { [`${library}/code.py`]: conflict }, `error merge-conflict ${library}/code.py`),
    row(
      'in a query',
      { 'library/ignition/named-query/Shift Log/query.sql': conflict },
      'error merge-conflict library/ignition/named-query/Shift Log/query.sql',
    ),
    row('in a view', { [`${overview}/view.json`]: conflict }, `error merge-conflict ${overview}/view.json`),
    row('in a project.json', { 'line-b/project.json': conflict }, 'error merge-conflict line-b/project.json'),
    row('one mark in a script is none', { [`${library}/code.py`]: 'a = """\n<<<<<<< HEAD\n"""\n' }),
  ],
  'zero-bytes': [row('in a script', { [`${library}/code.py`]: '\0'.repeat(100) }, `error zero-bytes ${library}/code.py`)],
  'not-utf-8': [
    row(
      'a query',
      { 'library/ignition/named-query/Shift Log/query.sql': Buffer.from('SELECT 1', 'utf16le') as unknown as string },
      'error not-utf-8 library/ignition/named-query/Shift Log/query.sql',
    ),
  ],
  'truncated-json': [row('a view', { [`${overview}/view.json`]: '{"root":{' }, `error truncated-json ${overview}/view.json`)],
  'missing-attributes': [
    row(
      'a manifest of a view',
      projectResource(overview, { 'view.json': '{}' }, { attributes: undefined }),
      `error missing-attributes ${overview}/resource.json`,
    ),
  ],
  'listed-file-missing': [row('a view', { [`${overview}/view.json`]: null }, `error listed-file-missing ${overview}/resource.json`)],
  'unlisted-file': [
    row('a note beside a view', { [`${overview}/notes.txt`]: 'x' }, `warning unlisted-file ${overview}/notes.txt`),
    row('a thumbnail', { [`${overview}/thumbnail.png`]: 'x' }),
  ],
  'missing-resource-json': [
    row('a view', { [`base/${perspective}/views/Spare/view.json`]: '{}' }, `warning missing-resource-json base/${perspective}/views/Spare`),
  ],
  'case-collision': [
    row('two projects', { 'LINE-B/project.json': projectJson('Other', 'base') }, 'error case-collision line-b'),
    row('two views', view(`base/${perspective}/views/PUMP`), `error case-collision base/${perspective}/views/Pump`),
  ],
}
