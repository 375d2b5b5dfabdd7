/**
 * The README of the chart, which `helm show readme` prints, with a table of all values. Pure.
 */
import manifest from '../../package.json' with { type: 'json' }
import { inputSchema, type ValueSchema } from '../values/json-schema.ts'

export function chartReadme(): string {
  const { name, description, version } = manifest
  return [
    `# ${name}`,
    '',
    description,
    '',
    '```sh',
    `helm install ${name} <chart> --namespace cluster-sync --create-namespace`,
    '```',
    '',
    `\`<chart>\` is \`oci://<registry>/charts/${name} --version ${version}\`, an archive or a folder. Then verify the installation with the command line of the release: \`cluster-sync check --operator-namespace cluster-sync\`.`,
    '',
    'Helm installs the CRDs once and never upgrades them. Before an upgrade, apply the CRDs of the new chart: `helm show crds <chart> | kubectl apply --server-side --force-conflicts -f -`.',
    '',
    '## Values',
    '',
    'Unknown keys, wrong types and impossible combinations are errors that name the key.',
    '',
    valuesTable(),
    '',
  ].join('\n')
}

/** Every value with its type, default and meaning, as a Markdown table. */
export function valuesTable(): string {
  const rows = leaves(inputSchema(), [])
  return [['Key', 'Type', 'Default', 'Meaning'], ['---', '---', '---', '---'], ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`)
    .join('\n')
}

/** The keys without further fixed keys, in the order of the schema. */
function leaves(schema: ValueSchema, path: readonly string[]): string[][] {
  const properties = Object.entries(schema.properties ?? {})
  if (properties.length > 0) return properties.flatMap(([name, inner]) => leaves(inner, [...path, name]))
  const types = schema.anyOf?.flatMap(({ type }) => type ?? []).join(' or ')
  const type =
    schema.enum === undefined ? (schema.type ?? types ?? 'any') : schema.enum.map((value) => `\`${String(value) || '""'}\``).join(', ')
  return [[`\`${path.join('.')}\``, type, `\`${JSON.stringify(schema.default)}\``, schema.description ?? '']]
}
