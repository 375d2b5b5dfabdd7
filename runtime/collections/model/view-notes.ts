/**
 * Which views of Perspective a view or a page names in so many words: embedded views, docks, pages, popups. A path that is bound to
 * something else is known only while a session runs. Pure.
 */
import { isObject } from '../../json.ts'
import type { Notes } from './notes.ts'

const perspective = 'com.inductiveautomation.perspective'
/** The type of views, as `<module>/<type>`. */
export const viewType = `${perspective}/views`
const pageType = `${perspective}/page-config`

/** Components whose property `path` is a view. */
const embeds: ReadonlySet<string> = new Set(['ia.display.view', 'ia.display.flex-repeater'])
const maxDepth = 64
const maxViews = 2_000
const maxPath = 512
/** Below a longer place nothing is looked at: whether a binding fills it could not be told in linear time. */
const maxPlace = 512

/** The views that a resource of the given type names; `json` holds its parsed files by name. Undefined: none. */
export function viewNotesOf(type: string, json: ReadonlyMap<string, unknown>): Notes | undefined {
  const named = new Set<string>()
  if (type === pageType) findPaths(json.get('config.json'), '', 0, new Set(), named)
  if (type === viewType) {
    const view = json.get('view.json')
    if (isObject(view)) component(view['root'], 0, named)
  }
  if (named.size === 0) return undefined
  return { references: [], uuid: undefined, target: undefined, defines: [], uses: [], views: [...named], isPartial: false }
}

function component(value: unknown, depth: number, named: Set<string>): void {
  if (!isObject(value) || depth > maxDepth) return
  const { type, props, propConfig, events, children } = value
  const bound = new Set(isObject(propConfig) ? Object.keys(propConfig).filter((key) => isBound(propConfig[key])) : [])
  if (isObject(props) && !bound.has('props')) {
    if (typeof type === 'string' && embeds.has(type) && !bound.has('props.path')) add(props['path'], named)
    findPaths(props, 'props', depth, bound, named)
  }
  for (const list of isObject(events) ? Object.values(events) : []) popups(list, depth, named)
  if (Array.isArray(children)) for (const child of children) component(child, depth + 1, named)
}

function isBound(config: unknown): boolean {
  return isObject(config) && config['binding'] !== undefined
}

/** Every `viewPath` below a place that no binding fills. */
function findPaths(value: unknown, at: string, depth: number, bound: ReadonlySet<string>, named: Set<string>): void {
  if (depth > maxDepth || typeof value !== 'object' || value === null) return
  for (const [key, member] of Object.entries(value)) {
    if (at.length + key.length > maxPlace) continue
    const place = Array.isArray(value) ? `${at}[${key}]` : `${at}.${key}`
    if (bound.has(place)) continue
    if (key === 'viewPath') add(member, named)
    else findPaths(member, place, depth + 1, bound, named)
  }
}

/** Actions that open a popup. */
function popups(value: unknown, depth: number, named: Set<string>): void {
  if (depth > maxDepth || typeof value !== 'object' || value === null) return
  if (isObject(value) && value['type'] === 'popup') {
    const config = value['config']
    if (isObject(config) && config['mode'] !== 'close') add(config['viewPath'], named)
    return
  }
  for (const member of Object.values(value)) popups(member, depth + 1, named)
}

function add(path: unknown, named: Set<string>): void {
  if (typeof path !== 'string' || path.length > maxPath || named.size >= maxViews || /[{}[\]]/.test(path)) return
  const name = path.trim().replace(/^\/|\/$/g, '')
  if (name !== '') named.add(name)
}
