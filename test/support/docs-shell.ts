/**
 * A shell for the commands of the documentation: in a checkout of this repository, with the kubectl of the tests and cluster-sync on PATH.
 */
import { spawn } from 'node:child_process'
import { copyFileSync, mkdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { ensureProgram } from '../cluster/binaries.ts'
import { temporaryFolder } from './repository.ts'

const root = path.resolve(import.meta.dirname, '../..')

/** Commands that no test runs as written. */
export const notRun: ReadonlyMap<string, string> = new Map([
  ['docker', 'there is no container engine'],
  ['npm', 'the packages of this checkout serve'],
])

export type Ended = { code: number; output: string; tookMs: number }
export type Shell = { folder: string; run(command: string): Promise<Ended> }

/** A checkout of this repository with its own dist/, and a shell in it with kubectl configured for the cluster. */
export async function openShell(t: Pick<Test, 'teardown'>, kubeconfig: string): Promise<Shell> {
  const folder = temporaryFolder(t, 'install')
  for (const name of ['bin', 'infra', 'runtime', 'scripts', 'examples', 'node_modules', 'package.json']) {
    symlinkSync(path.join(root, name), path.join(folder, name))
  }
  copyFileSync(path.join(root, 'cdk8s.yaml'), path.join(folder, 'cdk8s.yaml'))
  const programs = path.join(folder, 'programs')
  mkdirSync(programs)
  symlinkSync(await ensureProgram('kubectl', () => undefined), path.join(programs, 'kubectl'))
  symlinkSync(path.join(root, 'bin/cluster-sync.js'), path.join(programs, 'cluster-sync'))
  const PATH = [programs, process.env['PATH']].join(path.delimiter)
  const env = { ...process.env, PATH, KUBECONFIG: kubeconfig, CDK8S_CHECK_UPGRADE: 'false' }
  return {
    folder,
    run: (command) =>
      new Promise((resolve, reject) => {
        const startedMs = performance.now()
        // With `env`, because the tap command sets NODE_OPTIONS for every child process.
        const args = ['NODE_OPTIONS=', 'bash', '-euo', 'pipefail', '-c', command]
        const child = spawn('env', args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'], timeout: 300_000 })
        let output = ''
        for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString('utf8')))
        child.on('error', reject)
        child.on('close', (code) => resolve({ code: code ?? 1, output, tookMs: performance.now() - startedMs }))
      }),
  }
}

/** Runs the lines of a block one by one; each must succeed. */
export async function follow(t: Pick<Test, 'fail' | 'equal' | 'comment'>, { run }: Shell, block: string | undefined): Promise<void> {
  if (block === undefined) return void t.fail('the page lacks the block')
  for (const line of linesOf(block)) {
    const why = notRun.get(programOf(line))
    if (why !== undefined) {
      t.comment(`not run: ${line} (${why})`)
      continue
    }
    const { code, output, tookMs } = await run(line)
    t.equal(code, 0, code === 0 ? line : `${line}\n${output}`)
    if (line === 'npx cdk8s synth') t.comment(`${line} took ${(tookMs / 1000).toFixed(1)} s`)
  }
}

/** The commands of a block. */
export function linesOf(text: string): string[] {
  return text.split('\n').filter((line) => line !== '')
}

/** The program of a command line, after its variable assignments. */
export function programOf(line: string): string {
  return line.split(' ').find((word) => !/^[A-Z_]+=/.test(word)) ?? ''
}
