import t from 'tap'
import { effectiveSet, collectionsByName, readingOrder } from '../../../../runtime/validation/model/inheritance.ts'
import { parseMode } from '../../../../runtime/validation/model/manifests.ts'
import { buildTree } from '../../../../runtime/validation/model/tree.ts'
import { modeJson } from '../../../support/collection-tree.ts'
import { findRoots } from '../../../../runtime/validation/model/projects.ts'

const treeOf = (...paths: string[]) =>
  buildTree(
    paths.map((path) => ({ path })),
    '',
  )
const keysOf = (...paths: string[]): string[] =>
  treeOf(...paths).collections.flatMap(({ resources }) => resources.map(({ kind, key }) => `${kind} ${key}`))

void t.test('a manifest in a type folder is a singleton, and one below it is a named resource', async (t) => {
  t.strictSame(keysOf('core/ignition/system-properties/resource.json'), ['singleton ignition/system-properties'])
  t.strictSame(keysOf('core/ignition/tag-provider/a/resource.json'), ['named ignition/tag-provider/a'])
  t.strictSame(keysOf('core/ignition/images/a/b/c.png/resource.json'), ['named ignition/images/a/b/c.png'])
})

void t.test('folders below a resource are not resources', async (t) => {
  t.strictSame(keysOf('core/m/themes/dark/resource.json', 'core/m/themes/dark/app/resource.json'), ['named m/themes/dark'])
})

void t.test('a unary resource may contain others, except in _unary', async (t) => {
  t.strictSame(
    keysOf(
      'core/ignition/tag-definition/p/unary-resource.json',
      'core/ignition/tag-definition/p/Area/unary-resource.json',
      'core/ignition/tag-definition/p/_unary/resource.json',
    ),
    ['unary ignition/tag-definition/p/_unary', 'unary ignition/tag-definition/p/Area/_unary'],
  )
})

void t.test('names below the type are form-decoded, modules and types are not', async (t) => {
  t.strictSame(keysOf('core/m%41/t%41/a%3ab+c/resource.json'), ['named m%41/t%41/a:b c'])
  t.strictSame(keysOf('core/m/t/100%/resource.json'), ['named m/t/100%'])
})

void t.test('folders that a gateway ignores contain no resources', async (t) => {
  t.strictSame(
    keysOf(
      'core/ignition/t/.x/resource.json',
      'core/ignition/t/a.deleted-1/resource.json',
      'core/ignition/t/a.tmp/resource.json',
      '.resources/core/a/b/resource.json',
    ),
    [],
  )
})

void t.test('roots are all config/resources folders, or else the parents of collections', async (t) => {
  const unusual = ['a/core/config-mode.json', 'a/dev/config-mode.json', 'core/config-mode.json', 'c/x']
  t.strictSame(findRoots(unusual), ['', 'a'])
  const usual = ['b/config/resources/core/x', 'd/config/resources/core/config-mode.json']
  t.strictSame(findRoots([...unusual, ...usual]), ['b/config/resources', 'd/config/resources'])
  t.strictSame(findRoots([...unusual, ...usual], ['a']), ['a', 'b/config/resources', 'd/config/resources'], 'what is asked for counts too')
})

void t.test('a folder below var is a root only if requested', async (t) => {
  const template = 'data/var/ignition/quick-start/resourcecollections/quickstart/config-mode.json'
  const cached = 'data/var/x/config/resources/core/config-mode.json'
  t.strictSame(findRoots([template, cached]), [])
  t.strictSame(findRoots([template, cached, 'data/config/resources/core/config-mode.json']), ['data/config/resources'])
  t.strictSame(findRoots([cached], ['data/var/x']), ['data/var/x/config/resources'])
  t.strictSame(findRoots(['variants/a/core/config-mode.json']), ['variants/a'])
})

void t.test('a gateway reads external, core, the parents of its mode and its mode, in this order', async (t) => {
  const parents = { external: 'system', core: 'external', plant: 'core', line: 'Plant', other: 'core' }
  const tree = treeOf(...Object.keys(parents).map((name) => `${name}/config-mode.json`))
  const modes = Object.entries(parents).map(([name, parent]) => [name, parseMode(Buffer.from(modeJson(name, parent)))] as const)
  const family = collectionsByName(tree, new Map(modes))
  t.strictSame(readingOrder(family, 'LINE'), ['system', 'external', 'core', 'plant', 'line'])
  t.strictSame(readingOrder(family, ''), ['system', 'external', 'core'])
  t.strictSame(readingOrder(family, 'gone'), ['system', 'external', 'core', 'gone'])
})

void t.test('local overrides the mode only if requested', async (t) => {
  const tree = treeOf('core/config-mode.json', 'core/m/t/resource.json', 'local/config-mode.json', 'local/m/t/resource.json')
  const family = collectionsByName(tree, new Map())
  t.equal(effectiveSet(family, '').get('m/t')?.collection.name, 'core')
  t.equal(effectiveSet(family, '', true).get('m/t')?.collection.name, 'local')
})
