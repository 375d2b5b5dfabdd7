/**
 * What CONTRIBUTING.md, the workflow and the settings of editors say is so.
 */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { parse } from 'yaml'

const root = path.resolve(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8')

void t.test('every file and folder that CONTRIBUTING.md names is there', async (t) => {
  const named = [...read('CONTRIBUTING.md').matchAll(/`((?:runtime|infra|test|docs|scripts)\/[\w./-]+|\.ci\/run|\.node-version)`/g)].map(
    ([, name = '']) => name,
  )
  t.ok(named.length > 20)
  t.same(
    named.filter((name) => !existsSync(path.join(root, name))),
    [],
  )
})

void t.test('the Node of editors and of the workflow is the one that the packages pin', async (t) => {
  const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: Record<string, string> }
  t.equal(read('.node-version').trim(), devDependencies['node'])
})

void t.test('editors are told the width that the formatter keeps', async (t) => {
  const { printWidth } = JSON.parse(read('.prettierrc.json')) as { printWidth: number }
  t.match(read('.editorconfig'), new RegExp(`^max_line_length = ${printWidth}$`, 'm'))
})

void t.test('the workflow runs the gate, may only read, and keeps no credentials', async (t) => {
  const workflow = parse(read('.github/workflows/check.yml')) as {
    permissions: unknown
    jobs: Record<string, { steps: { uses?: string; run?: string; with?: Record<string, unknown> }[] }>
  }
  t.same(workflow.permissions, { contents: 'read' })
  const steps = workflow.jobs['check']?.steps ?? []
  t.same(
    steps.flatMap(({ run = '' }) => (run === '' ? [] : [run])),
    ['.ci/run'],
  )
  t.equal(steps.find(({ uses = '' }) => uses.startsWith('actions/checkout@'))?.with?.['persist-credentials'], false)
})
