/**
 * docs/reference/values.md: every value with type, default and meaning, from the schema that checks them.
 */
import { valuesTable } from '../../infra/chart/readme.ts'
import type { GeneratedFile } from './table.ts'

export async function values(): Promise<GeneratedFile[]> {
  const content = [
    '# Installation values',
    '',
    'Every key with its type, default and meaning. Unknown keys, wrong types and impossible combinations are errors that name the key; values without effect, and risky values, cause warnings, which `cdk8s synth` prints, and Helm after an installation or upgrade.',
    '',
    valuesTable(),
    '',
  ].join('\n')
  return [{ path: 'docs/reference/values.md', content }]
}
