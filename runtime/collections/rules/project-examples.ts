/**
 * An example for each rule about projects. Pure.
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
const script = 'line-a/ignition/script-python/shift'
const code = (text: string): ExampleFiles => ({ [`${script}/resource.json`]: manifest(['code.py']), [`${script}/code.py`]: text })

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
  'unknown-view': { before: pages('Overveiw'), after: pages('Overview'), kind },
  'script-syntax': {
    before: code("def shiftOf(hour):\n\tif hour < 6\n\t\treturn 'night'\n"),
    after: code("def shiftOf(hour):\n\tif hour < 6:\n\t\treturn 'night'\n"),
    kind,
  },
} satisfies Record<string, Example>
