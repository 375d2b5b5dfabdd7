/**
 * Recorded transcripts of incorrect calls with their output and exit code, so that reviews show every change of a message. To update them,
 * run `CLUSTER_SYNC_WRITE_TRANSCRIPTS=1 npx tap test/runtime/cli/behavior/transcripts.component.slow.test.ts`.
 */
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { temporaryFolder } from '../../../support/repository.ts'
import { requires } from '../../../support/requires.ts'
import type { CliResult } from '../../../support/run-cli.ts'
import { gatewaySyncText, kept, ofAnyTime, setUpPlant } from '../../../support/transcript.ts'

/** Incorrect GatewaySync files by name: which text of the correct file is replaced, and its replacement. */
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
  'empty.yaml': [gatewaySyncText, ''],
}

const run = 'run -f gatewaysync.yaml'
/** The calls by transcript file. `data/N` is a folder that no other call writes to. */
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
    'lint plant --format xml',
    'lint plant --root services',
    'lint nowhere',
    'lint plant.git',
    'lint https://git.invalid/x.git',
    'lint https://git.invalid/x.git --ref main',
    'lint broken',
    'explain plant --mode prod',
    'explain plant --mode prd',
    'explain plant database-conection --mode prod',
    'explain broken database-connection --mode dev',
    'explain plant',
    'mode',
    'mode nw x',
    'mode diff dev',
    'mode diff dev prd --path plant',
    'mode diff dev prod --path plant',
    'mode new core --path plant',
    'mode new stage --path plant',
    'mode new trial_run --path plant --from prod',
    'mode new stage --path plant',
    'sign',
    'sign plant --dry-run',
    'sign unsigned --dry-run',
    'sign nope',
    'plan -f gatewaysync.yaml --data data/N --mode dev --summary',
    'plan -f gatewaysync.yaml --data data/N --mode dev --summary --ref nope',
    'plan -f gatewaysync.yaml --data data/N --mode dev --summary --ref broken',
    'plan -f gatewaysync.yaml --data data/N --format yaml',
    'plan -f gatewaysync.yaml --data data/nope',
  ],
}

/** Creates the plant, a folder with its broken branch, and the incorrect files. */
function setUp(folder: string): void {
  const plant = setUpPlant(folder)
  plant.git('worktree', 'add', '-q', path.join(folder, 'broken'), 'broken')
  plant.git('worktree', 'add', '-q', '--detach', path.join(folder, 'unsigned'))
  rmSync(path.join(folder, 'unsigned/services/config/resources/core/ignition/cobranding/config.json'))
  for (const [name, [right, instead]] of Object.entries(wrong))
    writeFileSync(path.join(folder, name), gatewaySyncText.replace(right, instead).replaceAll('<folder>', folder))
}

/** Runs all calls in one process: starting about fifty processes would dominate the duration of this test. */
function play(calls: readonly (readonly string[])[], folder: string): CliResult[] {
  const program = path.resolve(import.meta.dirname, '../../../support/programs/play-calls.ts')
  const env = { ...process.env, STATE_DIRECTORY: path.join(folder, 'state') }
  const input = JSON.stringify(calls)
  return JSON.parse(execFileSync(process.execPath, [program], { cwd: folder, env, input, encoding: 'utf8' })) as CliResult[]
}

for (const [name, calls] of Object.entries(transcripts)) {
  void t.test(`the calls of ${name}.txt print what it says`, { timeout: 600_000 }, async (t) => {
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
      const shown = (stdout + stderr).replaceAll(`${folder}/`, '').replaceAll(`data/${index}`, 'data')
      return `$ cluster-sync ${call}\n${ofAnyTime(shown)}[exit ${code}]\n`
    })
    kept(t, path.join(import.meta.dirname, 'transcripts', `${name}.txt`), told.join('\n'))
  })
}
