/**
 * Turns a plan into the few renames that carry it out: where each file is staged, and in which order entries are moved. Pure.
 */
import { folderAbove } from '../../api/values.ts'
import { maybeEmptied, type Plan, type PlannedPut } from '../plan/plan.ts'

/**
 * Each step is one rename. The content of the run's folder shows whether it is done, so that it can be resumed or undone after a crash:
 * `put` keeps the old file under `keep` (if `had`) and renames `stage` over it; `tree` renames a new folder into place; `move` moves a file
 * or folder away to `keep`. `path` is below the data directory, `stage` and `keep` below the run's folder.
 */
export type Step =
  | { op: 'put'; path: string; stage: string; keep: string; had: boolean }
  | { op: 'tree'; path: string; stage: string }
  | { op: 'move'; path: string; keep: string }

/** A plan's renames. */
export type Layout = {
  steps: Step[]
  /** Where a file is staged below the run's folder, by index in `puts`. Computed on demand: a first sync has thousands. */
  placeOf(index: number): string
  /** Folders to remove at the end if they are empty then, deepest first. */
  emptied: string[]
}

/**
 * Obstacles are moved first, then new content is put in place in the order of paths, and deletions come last. `named`: folders that are
 * staged already, by their path.
 */
export function layOut(plan: Pick<Plan, 'puts' | 'deletes' | 'respelled'>, named: ReadonlyMap<string, string> = new Map()): Layout {
  const trees = new Map<string, string>()
  let unnamed = 0
  const replaced = [...plan.puts.filter(({ before }) => before === 'folder').map(({ path }) => path), ...plan.respelled]
  const puts: Step[] = []
  // Avoids pairs of index and put, which are objects: a first sync has thousands.
  plan.puts.forEach((put, index) => {
    const tree = treeOf(put)
    if (tree === undefined) {
      puts.push({ op: 'put', path: put.path, stage: `s${index}`, keep: `k${index}`, had: put.before === 'file' })
    } else if (!trees.has(tree)) {
      const name = named.get(tree) ?? `t${named.size + unnamed++}`
      trees.set(tree, name)
      puts.push({ op: 'tree', path: tree, stage: name })
    }
  })
  const replacedFolders = new Set(replaced)
  const obstacles = replaced.map((path, index): Step => ({ op: 'move', path, keep: `o${index}` }))
  const moves = plan.deletes
    .filter(({ path }) => folderAbove(path, replacedFolders) === undefined)
    .map(({ path, isObstacle }, index) => ({ isObstacle, step: { op: 'move', path, keep: `d${index}` } satisfies Step }))
  return {
    steps: [
      ...obstacles,
      ...moves.filter(({ isObstacle }) => isObstacle).map(({ step }) => step),
      ...puts,
      ...moves.filter(({ isObstacle }) => !isObstacle).map(({ step }) => step),
    ],
    placeOf(index) {
      const put = plan.puts[index]
      const tree = put === undefined ? undefined : treeOf(put)
      return put === undefined || tree === undefined ? `s${index}` : `${trees.get(tree) ?? ''}${put.path.slice(tree.length)}`
    },
    emptied: maybeEmptied(plan.deletes),
  }
}

/** The new folder with which a file arrives; undefined if the file's folder exists. */
function treeOf({ before, topmost, path }: PlannedPut): string | undefined {
  return before === 'absent' && topmost !== path ? topmost : undefined
}
