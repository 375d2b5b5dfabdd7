/**
 * Makes each call fail with which the engine changes a folder, once or from then on, and kills the engine around it: the folder always ends
 * at exactly one commit, and no report names another one.
 */
import { spawn, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { constants } from 'node:os'
import path from 'node:path'
import type { Test } from 'tap'
import { bundlePrograms } from './measured-process.ts'
import type { Tree } from './memory-source.ts'
import type { Trial, TrialEnd, TrialWork } from './programs/fault-trials.ts'
import { temporaryFolder } from './repository.ts'
import { requires } from './requires.ts'

const programs = path.resolve(import.meta.dirname, 'programs')
const { EIO, ENOSPC, EROFS, EDQUOT } = constants.errno
const codes = [EIO, ENOSPC, EROFS, EDQUOT]

/** Files that become folders and back, changes of case and of the executable bit, and an empty change. */
export const awkwardTrees: readonly [Tree, Tree] = [
  {
    'projects/keep': 'k',
    'projects/change': '1',
    'projects/gone/deep/x': 'x',
    'projects/turn': 'a file',
    'projects/turn-too/y': 'y',
    'projects/Readme': 'r',
    'projects/Dir/a': 'a',
    'projects/run!': '#!',
    'projects/tool': '#!',
    'projects/empty': '',
  },
  {
    'projects/keep': 'k',
    'projects/change': 'two',
    'projects/turn/now/a': 'a',
    'projects/turn-too': 'a file',
    'projects/README': 'r',
    'projects/dir/a': 'a',
    'projects/run': '#!',
    'projects/tool!': '#!',
    'projects/new/tree/z': 'z',
    'projects/large': 'L'.repeat(5_000),
  },
]

/** This number of files; every fifth is changed, added or deleted. */
export function manyFiles(count: number): readonly [Tree, Tree] {
  const path = (index: number): string => `projects/many/d${index % 40}/f${index}`
  const all = Array.from({ length: count }, (_, index) => index)
  return [
    Object.fromEntries(all.map((index) => [path(index), 'same'])),
    Object.fromEntries(
      all.flatMap((index) =>
        index % 15 === 5 ? [] : [[index % 15 === 10 ? `${path(index)}-new` : path(index), index % 5 === 0 ? 'other' : 'same']],
      ),
    ),
  ]
}

const calm: Trial = { to: 1, failsAt: 0, errno: 0, onward: false, cuts: false, killsAt: 0 }

/** Every failure of the n-th call, and every kill at it or soon after it. */
export function trialsAt(to: 0 | 1, call: number): { failing: Trial[]; killed: Trial[] } {
  const trial = { ...calm, to }
  const failing = codes.flatMap((errno) => [false, true].map((onward) => ({ ...trial, failsAt: call, errno, onward })))
  const errno = codes[call % codes.length] ?? EIO
  return {
    failing: [...failing, { ...trial, failsAt: call, errno: ENOSPC, cuts: true }],
    killed: [
      { ...trial, killsAt: call },
      ...[1, 2, 3].map((later) => ({ ...trial, failsAt: call, errno, onward: later === 2, killsAt: call + later })),
    ],
  }
}

export type Campaign = {
  /** The number of calls that a cycle to a tree makes without failures. */
  countCalls(to: 0 | 1): Promise<number>
  /** Runs trials; each wrong end state fails the test. */
  run(trials: readonly Trial[]): Promise<void>
}

/** Undefined if the test was skipped because the machine lacks a C compiler. */
export async function faultCampaign(t: Test, trees: readonly [Tree, Tree]): Promise<Campaign | undefined> {
  if (!requires(t, 'gcc', 'env')) return undefined
  const folder = temporaryFolder(t, 'faults')
  const library = path.join(folder, 'failing-calls.so')
  const compiled = spawnSync('gcc', ['-shared', '-fPIC', '-O2', '-w', '-o', library, path.join(programs, 'failing-calls.c'), '-ldl'], {
    encoding: 'utf8',
  })
  if (compiled.status !== 0) {
    t.plan(0, `gcc cannot build the library that lets calls fail: ${compiled.stderr.slice(0, 300)}`)
    return undefined
  }
  const [program = ''] = await bundlePrograms([path.join(programs, 'fault-trials.ts')], folder)
  const dataDir = path.join(folder, 'data')
  const control = path.join(folder, 'control')
  mkdirSync(path.join(dataDir, 'projects'), { recursive: true })
  writeFileSync(path.join(dataDir, 'projects/foreign'), 'theirs')
  writeFileSync(control, Buffer.alloc(32))
  const environment = [`LD_PRELOAD=${library}`, `FAULT_ROOT=${dataDir}`, `FAULT_CONTROL=${control}`, `NODE_COMPILE_CACHE=${program}.cache`]

  /** One process: runs until all trials have ended or one of them kills it. Returns the index of that trial. */
  const start = (work: TrialWork, ended: (end: TrialEnd) => void): Promise<number | undefined> =>
    new Promise((resolve, reject) => {
      const child = spawn('env', ['--ignore-environment', ...environment, process.execPath, program], {
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      let text = ''
      let begun: number | undefined
      child.stdout.on('data', (chunk: Buffer) => {
        const lines = `${text}${chunk.toString('utf8')}`.split('\n')
        text = lines.pop() ?? ''
        for (const line of lines) {
          const said = JSON.parse(line) as number | TrialEnd
          if (typeof said === 'number') begun = said
          else ended(said)
        }
      })
      child.once('error', reject)
      child.once('close', (code, killed) => {
        if (killed === 'SIGKILL') resolve(begun)
        else if (code === 0) resolve(undefined)
        else reject(new Error(`the program ended with ${code}`))
      })
      child.stdin.end(JSON.stringify(work))
    })

  const run = async (trials: readonly Trial[]): Promise<TrialEnd[]> => {
    const ends: TrialEnd[] = []
    let killed: number | undefined
    do {
      const first = killed === undefined ? 0 : killed + 1
      killed = await start({ dataDir, control, trees, trials, first, killed }, (end) => ends.push(end))
    } while (killed !== undefined)
    return ends
  }

  return {
    async countCalls(to) {
      const [end] = await run([{ ...calm, to }])
      t.strictSame(end?.problems, [], 'a cycle without a failure')
      return end?.calls ?? 0
    },
    async run(trials) {
      const ends = await run(trials)
      const wrong = ends.filter(({ problems }) => problems.length > 0)
      for (const { index, problems } of wrong.slice(0, 20)) t.fail(JSON.stringify(trials[index]), { problems })
      t.equal(wrong.length, 0, `${ends.length} trials`)
      t.equal(ends.length, trials.length)
    },
  }
}
