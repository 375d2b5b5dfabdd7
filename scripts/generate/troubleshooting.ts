/**
 * docs/troubleshooting.md: what to do about each reason, from the table that the command line prints too. The symptoms are written by hand.
 */
import { readFile } from 'node:fs/promises'
import { nextStep } from '../../runtime/cli/story/next-steps.ts'
import { reasons } from '../../runtime/fault.ts'
import { entryOf } from './runbook.ts'
import { type GeneratedFile, replaceTable, table } from './table.ts'

const path = 'docs/troubleshooting.md'

export async function troubleshooting(): Promise<GeneratedFile[]> {
  const rows = Object.keys(reasons).map((reason) => [entryOf(reason, 'runbook.md'), nextStep(reason) ?? ''])
  return [{ path, content: replaceTable(await readFile(path, 'utf8'), path, 'next-steps', table(['Reason', 'Next step'], rows)) }]
}
