/**
 * Validation before publication, in its own process that starts like the controller: the first commit of a repository, then commits with
 * one changed file each, then commits that add or remove resources, in a small and a large repository, with and without collections and ten
 * projects.
 */
import path from 'node:path'
import * as v from 'valibot'
import { resolveProfile, type ResolvedProfile } from '../../runtime/api/schema/profile.ts'
import { gatewaySyncSpec } from '../../runtime/api/schema/spec.ts'
import { config, type Files, resource, root } from '../support/collection-tree.ts'
import { imageEnvironment, imageFlags } from '../support/image-flags.ts'
import { addedAndRemoved, largeTree, tenProjects } from '../support/large-tree.ts'
import { projectRoot } from '../support/project-tree.ts'
import { bundlePrograms, memoryOf, peakWhile, type Process, startProcess } from '../support/measured-process.ts'
import type { ValidationAnswer, ValidationMessage } from '../support/programs/validation.ts'
import { type Changes, makeRepository, temporaryFolder } from '../support/repository.ts'
import { type Figure, median } from './figures.ts'

const sizes = [100, 20_000]

type Kind = { name: string; profile: object; files(count: number): Files; change(round: number): Files; names(round: number): Changes }

const kinds: readonly Kind[] = [
  {
    name: 'no collections',
    profile: { mappings: [{ source: 'projects', destination: 'projects' }] },
    files: (count) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`projects/f${index % (count / 2)}/${index}.txt`, `${index}\n`])),
    change: (round) => ({ 'projects/f0/0.txt': `round ${round}\n` }),
    names: (round) => addedAndRemoved(round, (number) => ({ [`projects/added ${number}/a.txt`]: `${number}\n` })),
  },
  {
    name: 'collections and projects',
    profile: { collections: { root }, mappings: [{ source: projectRoot, destination: 'projects' }] },
    files: (count) => ({ ...largeTree(count / 2), ...tenProjects() }),
    change: (round) =>
      round % 2 === 0
        ? { [`${root}/core/ignition/schedule/schedule 0/config.json`]: `{"round":${round}}\n` }
        : { [`${projectRoot}/line-1/ignition/script-python/plant/part0/code.py`]: `round = ${round}\n` },
    names: (round) => addedAndRemoved(round, (number) => resource(`core/ignition/schedule/added ${number}`, config({ number }))),
  },
]

/** `rounds`: commits with one changed file, and then as many with new or removed names. */
export async function run({ rounds = 20 }: { rounds?: number }): Promise<Figure[]> {
  const teardowns: (() => unknown)[] = []
  const folder = temporaryFolder({ teardown: (handler: () => unknown) => void teardowns.push(handler) }, 'bench-gate')
  try {
    const [program = ''] = await bundlePrograms(['test/support/programs/validation.ts'], folder)
    const figures: Figure[] = []
    for (const kind of kinds) {
      const changes: number[] = []
      for (const size of sizes) {
        const process = await startProcess(program, [], imageFlags('controller'), undefined, imageEnvironment('controller'))
        try {
          const measured = await measure(process, path.join(folder, `${kind.name}-${size}`), kind, size, rounds)
          changes.push(measured.changeMs)
          figures.push(...measured.figures)
        } finally {
          await process.stop()
        }
      }
      const [small = 1, large = 0] = changes
      figures.push({ name: `${kind.name}: one changed file, large beside small`, value: large / small, unit: 'x' })
    }
    return figures
  } finally {
    for (const handler of teardowns.toReversed()) handler()
  }
}

async function measure(process: Process, folder: string, kind: Kind, size: number, rounds: number) {
  const repository = makeRepository(folder)
  const profile = profileOf(kind.profile)
  const ask = (commit: string): Promise<ValidationAnswer> =>
    process.ask<ValidationAnswer>({ folder: path.join(folder, '.git'), commit, profile } satisfies ValidationMessage)
  const head = repository.commit(kind.files(size))
  // Packed, as on a git host.
  repository.git('gc', '-q')
  const before = memoryOf(process.pid)
  const first = await peakWhile(process.pid, () => ask(head))
  const { errors = 0 } = first.result.verdict?.kind === 'checked' ? first.result.verdict : {}
  if (errors > 0) throw new Error(`the tree is not valid: ${JSON.stringify(first.result.verdict)}`)
  const cpuMs = async (): Promise<number> => (await process.ask<ValidationAnswer>({})).cpuMs
  const cpuAtFirst = await cpuMs()
  const answers: ValidationAnswer[] = []
  const later = await peakWhile(process.pid, async () => {
    for (let round = 0; round < rounds; round += 1) answers.push(await ask(repository.commit(kind.change(round))))
  })
  const cpuAtLater = await cpuMs()
  const last = await peakWhile(process.pid, async () => {
    for (let round = 0; round < rounds; round += 1) await ask(repository.commit(kind.names(round)))
  })
  const cpuAtLast = await cpuMs()
  const changeMs = median(answers.map(({ tookMs }) => tookMs))
  const figure = (what: string, value: number, unit: string): Figure => ({ name: `${kind.name}, ${size} files: ${what}`, value, unit })
  return {
    changeMs,
    figures: [
      figure('first commit', first.result.tookMs, 'ms'),
      figure('one changed file', changeMs, 'ms'),
      figure('one changed file, CPU with git', (cpuAtLater - cpuAtFirst) / rounds, 'ms'),
      figure('added or removed resources, CPU with git', (cpuAtLast - cpuAtLater) / rounds, 'ms'),
      figure('anonymous memory added, first commit', first.peak.anonymousMiB - before.anonymousMiB, 'MiB'),
      figure('anonymous memory added, changed files', later.peak.anonymousMiB - before.anonymousMiB, 'MiB'),
      figure('anonymous memory added, changed names', last.peak.anonymousMiB - before.anonymousMiB, 'MiB'),
    ],
  }
}

function profileOf(profile: object): ResolvedProfile {
  const spec = v.parse(gatewaySyncSpec({ allowLocal: true }), {
    git: { repo: 'https://git.example.com/a.git', ref: 'main' },
    sync: { profiles: { default: profile } },
  })
  return resolveProfile(spec.sync, 'default')
}
