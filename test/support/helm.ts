/**
 * The packaged chart and the real Helm, which is built once like the programs of the control plane.
 */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { parseAllDocuments } from 'yaml'
import { type ChartFile, chartFiles } from '../../infra/chart/files.ts'
import type { Manifest } from './manifest.ts'
import { ensureProgram, findProgram } from '../cluster/binaries.ts'
import { temporaryFolder } from './repository.ts'
import { requires } from './requires.ts'

const oldestKubernetes = '1.30.0'
const notesKind = 'Notes'

export type Ran = { stdout: string; stderr: string; code: number }

export type Helm = {
  /** The folder of the chart, which renders its notes as an additional object. */
  chart: string
  run(...args: string[]): Promise<Ran>
  /** Writes values to a file, for `--values`. */
  valuesFile(values: unknown): string
}

/** Whether Helm exists or can be built; if not, the test has been skipped (or failed under CI) and should return. */
export function canRunHelm(t: Test): boolean {
  return findProgram('helm') !== undefined || requires(t, 'go')
}

/** Helm with its own home and a chart: the one of the sources unless another is given. */
export async function helm(t: Pick<Test, 'teardown' | 'comment'>, files: readonly ChartFile[] = chartFiles()): Promise<Helm> {
  const home = temporaryFolder(t, 'helm')
  const chart = path.join(home, 'chart')
  for (const { path: name, content } of showingNotes(files)) {
    mkdirSync(path.dirname(path.join(chart, name)), { recursive: true })
    writeFileSync(path.join(chart, name), content)
  }
  const run = await helmOf(t, { cwd: home })
  let written = 0
  return {
    chart,
    run,
    valuesFile(values) {
      const file = path.join(home, `values-${written}.json`)
      written += 1
      writeFileSync(file, JSON.stringify(values))
      return file
    },
  }
}

/** Runs Helm in a folder, without a cluster unless a kubeconfig is given. */
export async function helmOf(
  t: Pick<Test, 'teardown' | 'comment'>,
  { cwd, kubeconfig = '/dev/null' }: { cwd: string; kubeconfig?: string },
): Promise<Helm['run']> {
  const program = await ensureProgram('helm', (line) => t.comment(line))
  const home = temporaryFolder(t, 'helm-home')
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, KUBECONFIG: kubeconfig }
  return (...args) => execute(program, args, cwd, env)
}

/** The objects that Helm renders. */
export function parsed(stdout: string): Manifest[] {
  return parseAllDocuments(stdout).flatMap((document) => {
    if (document.errors.length > 0) throw document.errors[0]
    const object = document.toJS() as Manifest | null
    return object === null ? [] : [object]
  })
}

/** The objects and notes that Helm would install for the values, or its error message. */
export async function rendered(
  { run, chart, valuesFile }: Helm,
  { name, namespace }: { name: string; namespace: string },
  values: object,
): Promise<{ manifests: Manifest[]; notes: string } | string> {
  const options = ['--namespace', namespace, '--values', valuesFile(values), '--kube-version', oldestKubernetes]
  const { code, stdout, stderr } = await run('template', name, chart, ...options)
  if (code !== 0) return stderr
  const objects = parsed(stdout)
  const notes = objects.find(({ kind }) => kind === notesKind)
  return { manifests: objects.filter((object) => object !== notes), notes: (notes?.['notes'] as string | undefined) ?? '' }
}

/** An additional template, so that `helm template` also shows the notes. */
function showingNotes(files: readonly ChartFile[]): ChartFile[] {
  const notes = files.find(({ path: name }) => name === 'templates/NOTES.txt')
  if (notes === undefined) return [...files]
  const text = `{{ tpl ($.Files.Get "notes.txt") $ | toRawJson }}`
  const template = `apiVersion: v1\nkind: ${notesKind}\nmetadata: { name: notes }\nnotes: ${text}\n`
  return [...files, { path: 'notes.txt', content: notes.content }, { path: 'templates/notes-shown.yaml', content: template }]
}

function execute(program: string, args: readonly string[], cwd: string, env: NodeJS.ProcessEnv): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], timeout: 120_000, cwd, env })
    let stdout = ''
    let stderr = ''
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString('utf8')))
    child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString('utf8')))
    child.on('error', reject)
    child.on('close', (code) => resolve({ stdout, stderr, code: code ?? 1 }))
  })
}
