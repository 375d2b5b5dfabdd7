/**
 * The parameters that the starting process passes to the cases on a node.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import type { Ready } from '../../cluster/node/start.ts'
import type { KeyPair } from '../../../runtime/certificates/issue.ts'

/** The environment variable with the path of the file. */
export const givenVariable = 'CLUSTER_SYNC_ON_A_NODE'
/** The git host of the documentation; in the node it resolves to the node's own address. */
export const gitHostName = 'git.example.com'

export type Given = Ready & {
  /** A folder for files of the cases. */
  work: string
  /** An authority that the images trust like a public one, and the certificate of the git host issued by it. */
  authority: string
  gitServer: KeyPair
  /** The folder that `npm run release -- --dry-run` has made. */
  release: string
  /**
   * The chart of the previous release with the values that name its images, and its manifests; undefined if the history of this clone lacks it.
   */
  previous: { chart: string; values: string[]; manifests: string[] } | undefined
}

/** The folder of the images, and of the storage of their builder. */
export function imagesFolder(work: string): string {
  return path.join(work, 'images')
}

/** Progress output: the test runner prints only failures of the tests' own report. */
export function say(line: string): void {
  process.stderr.write(`on a node: ${line}\n`)
}

/** Throws if the cases are started directly. */
export function readGiven(): Given {
  const file = process.env[givenVariable]
  if (file === undefined) throw new Error('these cases run on a node: npm run test:e2e')
  return JSON.parse(readFileSync(file, 'utf8')) as Given
}
