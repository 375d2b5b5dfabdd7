/**
 * Tests where projects are found: in folders of projects, or as the repository itself.
 */
import t from 'tap'
import type { LintResult } from '../../../../runtime/cli/collections/lint-formats.ts'
import { lint } from '../../../../runtime/cli/collections/lint.ts'
import { FileTable } from '../../../../runtime/validation/model/file-table.ts'
import { listingOf } from '../../../../runtime/validation/model/listing.ts'
import { findProjectRoots } from '../../../../runtime/validation/model/projects.ts'
import { noSettings } from '../../../../runtime/validation/rules/severities.ts'
import { matchObject } from '../../../support/assertions.ts'
import type { Files } from '../../../support/collection-tree.ts'
import { embedded, perspective, projectJson, projectRoot, validProjects, view } from '../../../support/project-tree.ts'

const signal = new AbortController().signal

async function linted(files: Files, below = ''): Promise<LintResult> {
  const listing = listingOf(files)
  const input = { listing, files: await FileTable.list(listing, '', signal), below, settings: noSettings, close: async () => undefined }
  return await lint(input, undefined, signal)
}

const shown = ({ findings }: LintResult): string[] => findings.map(({ rule, path }) => `${rule} ${path}`)

/** The files of one project as a repository of its own. */
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
    t.strictSame(findProjectRoots(paths), roots)
    t.strictSame(findProjectRoots(paths.toReversed()), roots, 'in any order')
  })
}

void t.test('a repository that is a single project is validated as one', async (t) => {
  const valid = { 'README.md': 'x', 'docs/guide/view.json': '{}', '.github/workflows/a.yml': '', ...alone('line-a') }
  const result = await linted(valid)
  t.strictSame(shown(result), [], 'what it inherits may be in another repository')
  matchObject(t, result.summary, { projects: 1, resources: 2 })
  const whole = { ...alone('library'), ...alone('base'), 'project.json': projectJson('Base', '', { inheritable: true }) }
  t.strictSame(shown(await linted(whole)), [])
  const views = `${perspective}/views`
  const broken = {
    ...whole,
    ...alone('base', view(`base/${views}/Shown`, embedded('Gone'))),
    [`${views}/Pump/view.json`]: '{',
    'ignition/script-python/plant/sums/code.py': 'def a(:\n',
    'ignition/script-python/lost/code.py': 'a = 1\n',
  }
  t.strictSame(shown(await linted(broken)), [
    `truncated-json ${views}/Pump/view.json`,
    `unknown-view ${views}/Shown`,
    'missing-resource-json ignition/script-python/lost',
  ])
  t.strictSame(shown(await linted({ ...whole, 'project.json': '<<<<<<< HEAD\n' })), ['merge-conflict project.json'])
})

void t.test('a parent project may be in another folder of projects', async (t) => {
  const site = (parent: string): Files => ({ 'sites/a/projects/site/project.json': projectJson('Site', parent) })
  const files: Files = {
    ...validProjects(),
    ...site('base'),
    'sites/a/projects/site/ignition/global-props/resource.json': '{"attributes":{},"scope":"A","version":1}',
  }
  t.strictSame(shown(await linted(files)), [])
  const { [`${projectRoot}/base/project.json`]: _lost, ...headless } = files
  t.strictSame(shown(await linted(headless)), [`missing-project-json ${projectRoot}/base`])
  t.strictSame(shown(await linted({ ...files, ...site('bass') })), ['unknown-project-parent sites/a/projects/site/project.json'])
})
