/**
 * What the cases on a node are given by whoever has started it.
 */
import { readFileSync } from 'node:fs'
import type { Ready } from '../../cluster/node/start.ts'
import type { KeyPair } from '../../../runtime/certificates/issue.ts'

/** The environment variable that names the file. */
export const givenVariable = 'CLUSTER_SYNC_ON_A_NODE'
/** The git host of the documentation; inside it is the node's own address. */
export const gitHostName = 'git.example.com'

export type Given = Ready & {
  /** A folder for whatever the cases write. */
  work: string
  /** The authority that the images trust as if it were public, and the certificate of the git host from it. */
  authority: string
  gitServer: KeyPair
  /** The chart of the release before with the values that name its images; undefined where the history of this clone lacks it. */
  previous: { chart: string; values: string[] } | undefined
}

/** For people who read along: the runner prints of the tests' own report only what fails. */
export function say(line: string): void {
  process.stderr.write(`on a node: ${line}\n`)
}

/** Throws where the cases are started by themselves. */
export function readGiven(): Given {
  const file = process.env[givenVariable]
  if (file === undefined) throw new Error('these cases run on a node: npm run test:e2e')
  return JSON.parse(readFileSync(file, 'utf8')) as Given
}
