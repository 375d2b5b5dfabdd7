/**
 * Projects as gateways write them, for tests that break one thing.
 */
import type { Files } from './collection-tree.ts'

export const projectRoot = 'data/projects'
export const perspective = 'com.inductiveautomation.perspective'

export function projectJson(title: string, parent = '', more: object = {}): string {
  return `${JSON.stringify({ title, description: '', enabled: true, inheritable: false, parent, ...more }, undefined, 2)}\n`
}

/** The files of a resource below `folder`, relative to the projects folder. */
export function projectResource(folder: string, files: Files, manifest: object = {}): Files {
  const attributes = { lastModification: { actor: 'plant', timestamp: '2026-01-15T08:00:00Z' } }
  const whole = { scope: 'G', version: 1, restricted: false, overridable: true, files: Object.keys(files), attributes, ...manifest }
  const own = Object.fromEntries(Object.entries(files).map(([name, content]) => [`${projectRoot}/${folder}/${name}`, content]))
  return { ...own, [`${projectRoot}/${folder}/resource.json`]: `${JSON.stringify(whole, undefined, 2)}\n` }
}

/** A view with components. */
export function view(folder: string, ...children: object[]): Files {
  const root = { type: 'ia.container.flex', meta: { name: 'root' }, children }
  return projectResource(folder, { 'view.json': JSON.stringify({ custom: {}, params: {}, props: {}, root }) })
}

export function embedded(path: string, more: object = {}): object {
  return { type: 'ia.display.view', meta: { name: 'Embedded' }, props: { path }, ...more }
}

export function pages(project: string, viewPath: string, dock?: string): Files {
  const docks = dock === undefined ? {} : { top: [{ anchor: 'fixed', viewPath: dock }] }
  const config = { pages: { '/': { title: '', viewPath } }, sharedDocks: { cornerPriority: 'top-bottom', ...docks } }
  return projectResource(`${project}/${perspective}/page-config`, { 'config.json': JSON.stringify(config) })
}

export const script = `def total(items):
\tresult = 0
\tfor item in items:
\t\tif item is None or item < 0: continue
\t\tresult += item
\tprint 'sum', result
\treturn {'sum': result, "note": """of
  all"""}
`

/** A library, a base that inherits from it, and two lines that inherit from the base. Validation finds nothing in it. */
export function validProjects(): Files {
  return {
    [`${projectRoot}/library/project.json`]: projectJson('Library', '', { inheritable: true }),
    [`${projectRoot}/base/project.json`]: projectJson('Base', 'library', { inheritable: true }),
    [`${projectRoot}/line-a/project.json`]: projectJson('Line A', 'base'),
    [`${projectRoot}/line-b/project.json`]: projectJson('Line B', 'base'),
    ...projectResource('library/ignition/script-python/plant/sums', { 'code.py': script }),
    ...projectResource('library/ignition/named-query/Shift Log', { 'query.sql': 'SELECT * FROM log WHERE day = :day' }),
    ...view(`base/${perspective}/views/Docks/Header`),
    ...view(`base/${perspective}/views/Pump`, { type: 'ia.display.label', props: { text: '' } }),
    ...view(`line-a/${perspective}/views/Overview`, embedded('Pump'), {
      type: 'ia.display.flex-repeater',
      props: { path: 'Pump', instances: [] },
    }),
    ...pages('line-a', 'Overview', 'Docks/Header'),
    ...view(`line-b/${perspective}/views/Overview`, embedded('', { propConfig: { 'props.path': { binding: { type: 'expr' } } } })),
    ...pages('line-b', 'Overview'),
    ...projectResource(`line-b/${perspective}/session-props`, { 'props.json': '{"props":{}}' }),
  }
}
