/**
 * Rows about projects.
 */
import type { RuleId } from '../../../runtime/validation/rules/rules.ts'
import type { Files } from '../collection-tree.ts'
import { embedded, pages, perspective, projectJson, projectResource, projectRoot, validProjects, view } from '../project-tree.ts'
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
  const expected = findings.map((finding) => finding.replace(/^(\w+ [\w-]+) /, `$1 ${projectRoot}/`))
  return { fault, files, findings: expected, options, isAlone: true }
}

const shown = (fault: string, child: object, ...findings: string[]): Row => row(fault, view(overview, child), ...findings)

export const projects = {
  'missing-project-json': [
    row('a project without manifest', { 'line-b/project.json': null }, 'error missing-project-json line-b'),
    row('a folder without resources is none', { 'notes/readme.md': 'x' }),
    {
      fault: 'a part of a project, laid over what the gateway has',
      files: projectResource('line-b/com.inductiveautomation.webdev/resources/api', { 'config.json': '{}' }),
      findings: [`warning missing-project-json ${projectRoot}/line-b`],
      options,
      isAlone: true,
    },
  ],
  'invalid-project-json': [
    row(
      'not JSON, so that what it inherits is unknown',
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
      'a parent that only lacks its project.json, which another rule reports',
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
  'view-without-root': [
    row('a view', { [`${overview}/view.json`]: '{"custom":{},"params":{}}' }, `warning view-without-root ${overview}/view.json`),
    row('a view whose root is text', { [`${overview}/view.json`]: '{"root":"a"}' }, `warning view-without-root ${overview}/view.json`),
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
} satisfies Partial<Record<RuleId, Row[]>>

/** Rules for both collections and projects. */
export const shared: Partial<Record<RuleId, Row[]>> = {
  'wrong-shape': [
    row('a view that is a list', { [`${overview}/view.json`]: '[]' }, `error wrong-shape ${overview}/view.json`),
    row(
      'children that are an object',
      view(overview, { type: 'ia.container.flex', meta: { name: 'Part' }, children: {} }),
      `warning wrong-shape ${overview}/view.json`,
    ),
  ],
  'nested-copy': [
    row(
      'a project within itself',
      { 'base/base/project.json': projectJson('Base', 'library', { inheritable: true }) },
      'error nested-copy base/base',
    ),
    {
      fault: 'the only project, one folder too deep',
      files: Object.fromEntries(
        Object.entries(validProjects()).map(([path, content]) => [path.replace(`${projectRoot}/`, `${projectRoot}/library/`), content]),
      ),
      options: { root: `${projectRoot}/library`, kind: 'projects' },
      findings: [`error nested-copy ${projectRoot}/library/library`],
      isAlone: true,
    },
    {
      fault: 'folders of projects, one for each gateway',
      files: Object.fromEntries(
        Object.entries(validProjects()).map(([path, content]) => [path.replace(`${projectRoot}/`, `${projectRoot}/library/`), content]),
      ),
      options: {
        root: `${projectRoot}/library`,
        kind: 'projects',
        roots: { collections: [], projects: [`${projectRoot}/library`, `${projectRoot}/north`] },
      },
      findings: [],
      isAlone: true,
    },
  ],
  'resource-in-resource': [
    row(
      'a script module with modules below it',
      projectResource('library/ignition/script-python/plant/sums/night', { 'code.py': 'a = 1\n' }),
      'warning resource-in-resource library/ignition/script-python/plant/sums',
    ),
  ],
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
    row(
      'a script in Latin-1, which is read with wrong characters',
      { [`${library}/code.py`]: Buffer.from('# Käse\n', 'latin1') as unknown as string },
      `warning not-utf-8 ${library}/code.py`,
    ),
  ],
  'truncated-json': [row('a view', { [`${overview}/view.json`]: '{"root":{' }, `error truncated-json ${overview}/view.json`)],
  'missing-attributes': [
    row(
      'a manifest of a view',
      projectResource(overview, { 'view.json': '{"root":{}}' }, { attributes: undefined }),
      `warning missing-attributes ${overview}/resource.json`,
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
