/**
 * What the parts of this benchmark work with, and how they tell what they found.
 */
import type { Installation } from '../../support/installation.ts'
import type { Repository } from '../../support/repository.ts'
import type { Figure } from '../figures.ts'
import type { CallLog } from './api-calls.ts'
import type { Contained } from './contained.ts'
import type { Plant } from './plants.ts'
import type { Seen } from './seen.ts'

/** `hash`: what agents of the plants report to have applied. */
export type Bench = {
  cluster: Installation
  contained: Contained
  calls: CallLog
  seen: Seen
  repositories: readonly Repository[]
  hash: string
}

/** Also says it at once: a run takes long, and what it has told is not lost when it fails. */
export function figure(name: string, value: number, unit: string): Figure {
  process.stderr.write(`${name}: ${Number(value.toFixed(2))} ${unit}\n`)
  return { name, value, unit }
}

export function keyOf({ namespace, name }: Plant): string {
  return `${namespace}/${name}`
}

/** Commits another text of one file; returns the commit. */
export function change(repository: Repository, text: string): string {
  return repository.commit({ 'projects/f0/0.json': `${text}\n` })
}
