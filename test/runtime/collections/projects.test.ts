/**
 * Where the projects of a repository are: in folders of projects, or the repository itself.
 */
import t from 'tap'
import type { LintResult } from '../../../runtime/cli/collections/lint-formats.ts'
import { lint } from '../../../runtime/cli/collections/lint.ts'
import { FileTable } from '../../../runtime/collections/model/file-table.ts'
import { listingOf } from '../../../runtime/collections/model/listing.ts'
import { findProjectRoots } from '../../../runtime/collections/model/projects.ts'
import { noSettings } from '../../../runtime/collections/rules/severities.ts'
import type { Files } from '../../support/collection-tree.ts'
import { embedded, perspective, projectJson, projectRoot, validProjects, view } from '../../support/project-tree.ts'

const signal = new AbortController().signal

async function linted(files: Files, below = ''): Promise<LintResult> {
  const listing = listingOf(files)
  const input = { listing, files: await FileTable.list(listing, '', signal), below, settings: noSettings, close: async () => undefined }
  return await lint(input, undefined, signal)
}

const shown = ({ findings }: LintResult): string[] => findings.map(({ rule, path }) => `${rule} ${path}`)

/** The project of that name as a repository of its own. */
function alone(name: string, files = validProjects()): Files {
  const own = Object.entries(files).filter(([path]) => path.startsWith(`${projectRoot}/${name}/`))
  return Object.fromEntries(own.map(([path, content]) => [path.slice(projectRoot.length + name.length + 2), content]))
}

const rows: readonly (readonly [name: string, paths: readonly string[], roots: readonly string[]])[] = [
  ['a folder of projects', ['a/projects/x/project.json', `a/projects/x/${perspective}/views/v/resource.json`], ['a/projects']],
  ['a folder of another name', ['a/x/project.json', `a/x/${perspective}/views/v/resource.json`], ['a']],
  ['a project in the top folder', ['x/project.json', 'x/ignition/script-python/s/resource.json'], ['']],
  ['the repository itself', ['project.json', 'ignition/script-python/s/resource.json'], ['.']],
  ['the repository itself, with views alone', ['project.json', `${perspective}/views/v/resource.json`], ['.']],
  ['the project.json of another program', ['project.json', 'apps/web/project.json', 'ignition/deploy/a/resource.json'], []],
  ['collections, which are laid out alike', ['project.json', 'config/resources/core/ignition/schedule/day/resource.json'], []],
  ['what a gateway unpacks', ['var/x/project.json', `var/x/${perspective}/views/v/resource.json`], []],
]
for (const [name, paths, roots] of rows) {
  void t.test(`projects are found in ${name}`, async (t) => {
    t.same(findProjectRoots(paths), roots)
    t.same(findProjectRoots(paths.toReversed()), roots, 'in any order')
  })
}

void t.test('a repository that is a project is checked as one', async (t) => {
  const valid = { 'README.md': 'x', 'docs/guide/view.json': '{}', '.github/workflows/a.yml': '', ...alone('line-a') }
  const result = await linted(valid)
  t.same(shown(result), [], 'what it inherits may be in another repository')
  t.match(result.summary, { projects: 1, resources: 2 })
  const whole = { ...alone('library'), ...alone('base'), 'project.json': projectJson('Base', '', { inheritable: true }) }
  t.same(shown(await linted(whole)), [])
  const views = `${perspective}/views`
  const broken = {
    ...whole,
    ...alone('base', view(`base/${views}/Shown`, embedded('Gone'))),
    [`${views}/Pump/view.json`]: '{',
    'ignition/script-python/plant/sums/code.py': 'def a(:\n',
    'ignition/script-python/lost/code.py': 'a = 1\n',
  }
  t.same(shown(await linted(broken)), [
    `truncated-json ${views}/Pump/view.json`,
    `unknown-view ${views}/Shown`,
    'missing-resource-json ignition/script-python/lost',
    'script-syntax ignition/script-python/plant/sums/code.py',
  ])
  t.same(shown(await linted({ ...whole, 'project.json': '<<<<<<< HEAD\n' })), ['merge-conflict project.json'])
})

void t.test('a parent may be in another folder of projects, from which it is delivered too', async (t) => {
  const site = (parent: string): Files => ({ 'sites/a/projects/site/project.json': projectJson('Site', parent) })
  const files: Files = {
    ...validProjects(),
    ...site('base'),
    'sites/a/projects/site/ignition/global-props/resource.json': '{"attributes":{},"scope":"A","version":1}',
  }
  t.same(shown(await linted(files)), [])
  const { [`${projectRoot}/base/project.json`]: _lost, ...headless } = files
  t.same(shown(await linted(headless)), [`missing-project-json ${projectRoot}/base`])
  t.same(shown(await linted({ ...files, ...site('bass') })), ['unknown-project-parent sites/a/projects/site/project.json'])
})
