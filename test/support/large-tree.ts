/**
 * Collections of many resources, and commits that add and remove some, for what is measured.
 */
import { config, type Files, modeJson, resource, root } from './collection-tree.ts'
import type { Changes } from './repository.ts'

/** Two files a resource; nine of ten in core, the others as overrides in two modes. No rule finds anything in it. */
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

/** Every commit adds, and every second one also removes what the one before it added. */
export function addedAndRemoved(round: number, added: (number: number) => Files): Changes {
  if (round % 2 === 0) return added(round)
  const gone = Object.keys(added(round - 1)).map((file) => [file, null] as const)
  return { ...added(round), ...Object.fromEntries(gone) }
}
