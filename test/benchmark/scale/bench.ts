/**
 * The shared parts of this benchmark, and how they report figures.
 */
import type { Installation } from '../../support/installation.ts'
import type { Repository } from '../../support/repository.ts'
import type { Figure } from '../figures.ts'
import type { CallLog } from './api-calls.ts'
import type { Contained } from './contained.ts'
import type { Plant } from './plants.ts'
import type { Seen } from './seen.ts'

/** `hash`: the sync hash that agents of the plants report as applied. */
export type Bench = {
  cluster: Installation
  contained: Contained
  calls: CallLog
  seen: Seen
  repositories: readonly Repository[]
  hash: string
}

/** Also prints figures at once: a run takes long, and earlier figures survive a failure. */
export function figure(name: string, value: number, unit: string): Figure {
  process.stderr.write(`${name}: ${Number(value.toFixed(2))} ${unit}\n`)
  return { name, value, unit }
}

export function keyOf({ namespace, name }: Plant): string {
  return `${namespace}/${name}`
}

/** Commits new content of one file; returns the commit. */
export function change(repository: Repository, text: string): string {
  return repository.commit({ 'projects/f0/0.json': `${text}\n` })
}
