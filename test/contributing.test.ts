/**
 * CONTRIBUTING.md, the check workflow and the editor settings are correct.
 */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { parse } from 'yaml'

const root = path.resolve(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8')

void t.test('every file and folder in CONTRIBUTING.md exists', async (t) => {
  const named = [...read('CONTRIBUTING.md').matchAll(/`((?:runtime|infra|test|docs|scripts)\/[\w./-]+|\.ci\/run|\.node-version)`/g)].map(
    ([, name = '']) => name,
  )
  t.ok(named.length > 20)
  t.strictSame(
    named.filter((name) => !existsSync(path.join(root, name))),
    [],
  )
})

void t.test('the Node types are those of the oldest Node that the package permits', async (t) => {
  const { devDependencies, engines } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string>; engines: object }
  t.strictSame(engines, { node: '^22.18 || >=24' })
  t.match(devDependencies['@types/node'], /^22\.18\./)
})

void t.test('editors use the line width of the formatter', async (t) => {
  const { printWidth } = JSON.parse(read('.prettierrc.json')) as { printWidth: number }
  t.match(read('.editorconfig'), new RegExp(`^max_line_length = ${printWidth}$`, 'm'))
})

void t.test('the workflow runs .ci/run with read permission and keeps no credentials', async (t) => {
  const workflow = parse(read('.github/workflows/check.yml')) as {
    permissions: unknown
    jobs: Record<string, { steps: { uses?: string; run?: string; with?: Record<string, unknown> }[] }>
  }
  t.strictSame(workflow.permissions, { contents: 'read' })
  const steps = workflow.jobs['check']?.steps ?? []
  t.strictSame(
    steps.flatMap(({ run = '' }) => (run === '' ? [] : [run])),
    ['.ci/run'],
  )
  t.equal(steps.find(({ uses = '' }) => uses.startsWith('actions/checkout@'))?.with?.['persist-credentials'], false)
})
