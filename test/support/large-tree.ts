/**
 * Collections of many resources, and commits that add and remove some, for measurements.
 */
import { config, type Files, modeJson, resource, root } from './collection-tree.ts'
import { embedded, pages, perspective, projectJson, projectResource, projectRoot, script, view } from './project-tree.ts'
import type { Changes } from './repository.ts'

/** Two files per resource; nine of ten in core, the others as overrides in two modes. Validation finds nothing in it. */
export function largeTree(resources: number): Files {
  const files: Files = {
    [`${root}/external/config-mode.json`]: modeJson('External', 'system'),
    [`${root}/core/config-mode.json`]: modeJson('Core', 'external'),
    [`${root}/dev/config-mode.json`]: modeJson('Development', 'core'),
    [`${root}/prod/config-mode.json`]: modeJson('Production', 'core'),
  }
  for (let index = 0; index < resources; index += 1) {
    const collection = index % 20 === 18 ? 'dev' : index % 20 === 19 ? 'prod' : 'core'
    const number = collection === 'core' ? index : index - (index % 20)
    const settings = { number: index, text: 'x'.repeat(400) }
    Object.assign(files, resource(`${collection}/ignition/schedule/schedule ${number}`, config({ settings })))
  }
  return files
}

/**
 * Ten projects, nine of which inherit from the first: each with pages, twenty views that embed another, and five scripts. Validation finds
 * nothing in them.
 */
export function tenProjects(): Files {
  const files: Files[] = []
  for (let number = 0; number < 10; number += 1) {
    const name = `line-${number}`
    const manifest = number === 0 ? projectJson('Line 0', '', { inheritable: true }) : projectJson(`Line ${number}`, 'line-0')
    files.push({ [`${projectRoot}/${name}/project.json`]: manifest }, pages(name, 'Views/View 0'))
    for (let at = 0; at < 20; at += 1) {
      const label = { type: 'ia.display.label', meta: { name: 'Label' }, props: { text: `${name} ${at} ${'x'.repeat(400)}` } }
      files.push(view(`${name}/${perspective}/views/Views/View ${at}`, embedded(`Views/View ${(at + 1) % 20}`), label))
    }
    for (let at = 0; at < 5; at += 1) files.push(projectResource(`${name}/ignition/script-python/plant/part${at}`, { 'code.py': script }))
  }
  return Object.assign({}, ...files) as Files
}

/** Every commit adds files, and every second one also removes those that the previous one added. */
export function addedAndRemoved(round: number, added: (number: number) => Files): Changes {
  if (round % 2 === 0) return added(round)
  const gone = Object.keys(added(round - 1)).map((file) => [file, null] as const)
  return { ...added(round), ...Object.fromEntries(gone) }
}
