/**
 * An example for each project rule. Pure.
 */
import type { Example, ExampleFiles } from './example.ts'

const project = (title: string, parent: string, more: object = {}): string =>
  JSON.stringify({ title, description: '', enabled: true, inheritable: false, parent, ...more })
const manifest = (files: readonly string[]): string =>
  JSON.stringify({ scope: 'G', version: 1, restricted: false, overridable: true, files, attributes: {} })
const kind = 'projects' as const
const file = (path: string, before: string | null, after: string | null): Example => ({
  before: { [path]: before },
  after: { [path]: after },
  kind,
})
const pages = (viewPath: string): ExampleFiles => ({
  'line-a/com.inductiveautomation.perspective/page-config/resource.json': manifest(['config.json']),
  'line-a/com.inductiveautomation.perspective/page-config/config.json': `{"pages":{"/":{"viewPath":"${viewPath}"}}}`,
})

const view = 'line-a/com.inductiveautomation.perspective/views/Press'
const shown = (content: string): ExampleFiles => ({ [`${view}/resource.json`]: manifest(['view.json']), [`${view}/view.json`]: content })
const module = (folder: string): ExampleFiles => ({
  [`line-a/ignition/script-python/${folder}/resource.json`]: manifest(['code.py']),
  [`line-a/ignition/script-python/${folder}/code.py`]: 'rate = 1\n',
})

export const projectExamples = {
  'missing-project-json': file('line-b/project.json', null, project('Line B', 'base')),
  'invalid-project-json': file('line-b/project.json', '{"title":"Line B","enabled":"yes"}', project('Line B', 'base')),
  'unknown-project-parent': file('line-b/project.json', project('Line B', 'bass'), project('Line B', 'base')),
  'project-parent-not-inheritable': file(
    'base/project.json',
    project('Base', 'library'),
    project('Base', 'library', { inheritable: true }),
  ),
  'project-cycle': file(
    'library/project.json',
    project('Library', 'base', { inheritable: true }),
    project('Library', '', { inheritable: true }),
  ),
  'same-project-title': file('line-b/project.json', project('LINE A', 'base'), project('Line B', 'base')),
  'view-without-root': { before: shown('{"custom":{}}'), after: shown('{"custom":{},"root":{"type":"ia.container.flex"}}'), kind },
  'resource-in-resource': {
    before: { ...module('shift'), ...module('shift/night') },
    after: { ...module('shift/day'), ...module('shift/night') },
    kind,
  },
  'unknown-view': { before: pages('Overveiw'), after: pages('Overview'), kind },
} satisfies Record<string, Example>
