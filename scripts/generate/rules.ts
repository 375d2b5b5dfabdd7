/**
 * docs/rules.md: a table of the rules for resource collections and a section for each, from the rules' own table.
 */
import type { ExampleFiles } from '../../runtime/collections/rules/example.ts'
import { examples } from '../../runtime/collections/rules/examples.ts'
import { type RuleId, ruleIds, rules } from '../../runtime/collections/rules/rules.ts'
import { type GeneratedFile, table } from './table.ts'

const head = `# Rules for resource collections and projects

\`cluster-sync lint\` and the gate in front of every publication check resource collections and projects by these rules. Paths of the
examples are relative to the folder that holds the collections, or the projects. This page is generated.

An *error* keeps a gateway from starting or loses a resource; under \`spec.validation.policy: Enforce\` it keeps the commit from being
published, unless it lies in a mode that no gateway runs with. A *warning* only smells.

Severities are set in two places:

- \`spec.validation.rules\` of a GatewaySync, by rule: \`error\`, \`warning\` or \`off\`. It wins at the gate.
- \`.clustersync.yaml\` at the top of the repository, by rule and path, for \`cluster-sync lint\`. At the gate it may only raise a severity.

\`\`\`yaml
rules:
  stale-signature: error
  host-or-credential-in-core:
    - paths: ["services/config/resources/core/ignition/email-profile/**"]
      severity: off
\`\`\`

Of several entries the first whose \`paths\` match counts. An unknown rule is an error of its own. The file
has at most 32 KiB. What templates and patches make is judged by the gateway's agent, to whom only \`spec.validation\` is known.
`

export async function rulePages(): Promise<GeneratedFile[]> {
  const rows = ruleIds.map((id) => [`[\`${id}\`](#${id})`, rules[id].severity, rules[id].title])
  const sections = ruleIds.map((id) => section(id))
  return [{ path: 'docs/rules.md', content: [head, `${table(['Rule', 'Default', 'Finds'], rows)}\n`, ...sections].join('\n') }]
}

function section(id: RuleId): string {
  const { severity, title, why, fix } = rules[id]
  const { before, after } = examples[id]
  const shown = `**Before:**\n\n${filesIn(before)}\n\n**After:**\n\n${filesIn(after)}\n`
  return `## ${id}\n\n${title} Default: ${severity}.\n\n${why}\n\n**What to do:** ${fix}\n\n${shown}`
}

/** The files of an example, in one block; what is no text is shown as the escapes of JSON show it. */
function filesIn(files: ExampleFiles): string {
  const shown = Object.entries(files).map(([path, content]) => {
    if (content === null) return `# ${path} is not there`
    return `# ${path}${content === '' ? ' is empty' : `\n${visible(content.trimEnd())}`}`
  })
  return ['```text', ...shown, '```'].join('\n')
}

function visible(text: string): string {
  return text.replace(/[\0\uFEFF]/g, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
