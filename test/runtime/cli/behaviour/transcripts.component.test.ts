/**
 * What a person sees who errs: whole calls with what they print and how they end, kept as files, so that a change of words is seen in review.
 * `CLUSTER_SYNC_WRITE_TRANSCRIPTS=1 npx tap test/runtime/cli/behaviour/transcripts.component.test.ts` writes them anew.
 */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { makeRepository, temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import type { CliResult } from '../../../support/run-cli.ts'

const writing = process.env['CLUSTER_SYNC_WRITE_TRANSCRIPTS'] === '1'
const example = path.resolve(import.meta.dirname, '../../../../examples/plant')

/** A GatewaySync of `plant.git` beside it; `<folder>` is where the calls are made. */
const file = `apiVersion: clustersync.io/v1alpha1
kind: GatewaySync
metadata: {name: plant}
spec:
  git: {repo: <folder>/plant.git, ref: main}
  polling: {interval: 60s}
  sync:
    profiles:
      default:
        collections: {root: services/config/resources, mode: auto}
        mappings:
          - {source: services/projects, destination: projects}
`

/** Files that somebody wrote wrongly, by name: what of the right one is replaced by what. */
const wrong: Readonly<Record<string, readonly [string, string]>> = {
  'no-such-repository.yaml': ['plant.git', 'plnt.git'],
  'no-such-branch.yaml': ['ref: main', 'ref: mian'],
  'no-ref.yaml': ['ref: main', 'ref: "ma in"'],
  'no-colon.yaml': ['kind: GatewaySync', 'kind GatewaySync'],
  'tab.yaml': ['  git:', '\tgit:'],
  'unknown-key-of-a-profile.yaml': ['mappings', 'maping'],
  'no-duration.yaml': ['60s', '10'],
  'no-such-source.yaml': ['services/projects', 'services/project'],
  'bad-destination.yaml': ['destination: projects', 'destination: ../projects'],
  'no-such-root.yaml': ['services/config/resources', 'services/config/resource'],
  'other-version.yaml': ['v1alpha1', 'v1'],
  'relative.yaml': ['<folder>/plant.git', '../plant.git'],
  'nobody-there.yaml': ['<folder>/plant.git', 'http://127.0.0.1:9/plant.git'],
  'two.yaml': ['apiVersion', '---\napiVersion: v1\n---\napiVersion'],
  'empty.yaml': [file, ''],
}

const run = 'run -f gatewaysync.yaml'
/** By the name of the file that keeps them, the calls in their order; `data/N` is a folder that no other call writes to. */
const transcripts: Readonly<Record<string, readonly string[]>> = {
  options: [
    'foo',
    'lnt',
    'run',
    'run -f nofile.yaml --data data/N --once',
    `${run} --once`,
    `${run} --data data/nope --once`,
    `${run} --data data/N --onec`,
    `${run} --data data/N --once --timeout abc`,
    `${run} --data data/N --once --profile prod`,
    `${run} --data data/N --once --gateway localhost:8088`,
    `${run} --data data/N --once --gateway http://127.0.0.1:9`,
    `${run} --target name=a,dat=data/N --once`,
    `${run} --target name=a,data=data/N --target name=a,data=data/M --once`,
    `${run} --target data=data/N --once`,
    `${run} --data data/N --target name=a,data=data/M --once`,
    `${run} --data data/N --api-key-file nokey --once`,
    `${run} --data data/N --receiver-port 99999`,
    `${run} --data data/N --hmac-secret-file x`,
  ],
  files: Object.keys(wrong).map((name) => `run -f ${name} --data data/N --once`),
  repository: [
    'lint plant',
    'lint plant --ref nope',
    'lint nowhere',
    'lint plant.git',
    'lint https://git.invalid/x.git',
    'lint broken',
    'explain plant --mode prd',
    'explain plant',
    'mode',
    'mode nw x',
    'mode diff dev prod --path plant',
    'sign plant --dry-run',
    'sign nope',
    'plan -f gatewaysync.yaml --data data/N --mode dev --summary',
    'plan -f gatewaysync.yaml --data data/N --mode dev --summary --ref nope',
    'plan -f gatewaysync.yaml --data data/N --mode dev --summary --ref broken',
    'plan -f gatewaysync.yaml --data data/nope',
  ],
}

/** The example as a clone, as a bare repository, and with a branch that breaks it. */
function setUp(folder: string): void {
  const plant = makeRepository(path.join(folder, 'plant'))
  cpSync(example, plant.folder, { recursive: true })
  plant.commit({}, 'Add the plant')
  plant.git('checkout', '-q', '-b', 'broken')
  const dev = 'services/config/resources/dev/config-mode.json'
  plant.commit({ [dev]: readFileSync(path.join(example, dev), 'utf8').replace('"core"', '"cor"') }, 'Tidy up')
  plant.git('clone', '-q', '--bare', '.', path.join(folder, 'plant.git'))
  plant.git('worktree', 'add', '-q', '--detach', path.join(folder, 'broken'))
  plant.git('checkout', '-q', 'main')
  writeFileSync(path.join(folder, 'gatewaysync.yaml'), file.replaceAll('<folder>', folder))
  for (const [name, [right, instead]] of Object.entries(wrong))
    writeFileSync(path.join(folder, name), file.replace(right, instead).replaceAll('<folder>', folder))
}

/** Without what another run would print otherwise. */
function ofAnyRun(output: string, folder: string, data: string): string {
  return output
    .replaceAll(`${folder}/`, '')
    .replaceAll(data, 'data')
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, '<time>')
    .replaceAll(/\b\d+(?:\.\d)? m?s\b/g, '<duration>')
    .replaceAll(/\b(?:[0-9a-f]{40}|[0-9a-f]{8})\b/g, '<commit>')
}

/** Plays the calls in one process: some fifty that start would take most of what this test costs. */
function play(calls: readonly (readonly string[])[], folder: string): CliResult[] {
  const program = path.resolve(import.meta.dirname, '../../../support/programs/play-calls.ts')
  const env = { ...process.env, STATE_DIRECTORY: path.join(folder, 'state') }
  const input = JSON.stringify(calls)
  return JSON.parse(execFileSync(process.execPath, [program], { cwd: folder, env, input, encoding: 'utf8' })) as CliResult[]
}

for (const [name, calls] of Object.entries(transcripts)) {
  void t.test(`the calls of ${name}.txt print what it says`, { timeout: 280_000 }, async (t) => {
    if (!requires(t, 'git')) return
    const folder = temporaryFolder(t, 'transcripts')
    setUp(folder)
    const placed = calls.map((call, index) => {
      const data = `data/${index}`
      for (const each of [data, `${data}-other`]) mkdirSync(path.join(folder, each), { recursive: true })
      return call.replaceAll('data/N', data).replaceAll('data/M', `${data}-other`).split(' ').filter(Boolean)
    })
    const told = play(placed, folder).map(({ code, stdout, stderr }, index) => {
      const call = calls[index]?.replaceAll(/data\/[NM]/g, 'data')
      return `$ cluster-sync ${call}\n${ofAnyRun(stdout + stderr, folder, `data/${index}`)}[exit ${code}]\n`
    })
    const kept = path.join(import.meta.dirname, 'transcripts', `${name}.txt`)
    const text = told.join('\n')
    if (writing) writeFileSync(kept, text)
    t.equal(text, readFileSync(kept, 'utf8'))
    t.notMatch(text, /\n {4}at |\b(?:EACCES|ENOENT|EADDRINUSE)\b/, 'no stack and no errno')
  })
}
