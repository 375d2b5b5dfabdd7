/**
 * docs/reference/rules.md: a row for each rule for resource collections and projects, from the rules' own table.
 */
import { type RuleId, ruleIds, rules } from '../../runtime/validation/rules/rules.ts'
import { type GeneratedFile, table } from './table.ts'

const head = `# Validation rules

The controller and \`cluster-sync lint\` validate resource collections and projects with these rules. This page is generated; \`cluster-sync explain <rule>\` prints the same text.

An *error* means that a gateway would not start or would lose a resource. Under \`spec.validation.policy: Enforce\` a commit with errors is not published, unless they are in a deployment mode that no gateway uses. *Warnings* flag likely mistakes and never block a commit. A rule that is *off* runs only if you enable it.

The evidence for a rule is *documented* by the vendor or a standard, *observed* in public repositories, *reported* by users, true *by definition*, or *assumed*, which means not yet confirmed on a gateway.

Change the severity of a rule in one of two places:

- \`spec.validation.rules\` of a GatewaySync: \`error\`, \`warning\` or \`off\` by rule. It takes precedence. Quote "off", because kubectl reads a plain \`off\` as false.
- \`.clustersync.yaml\` at the top of the repository (at most 32 KiB): by rule and path. \`lint\` applies it as it is; the controller only uses it to raise severities. The first entry with a matching path applies. Unknown rules are errors.

\`\`\`yaml
rules:
  stale-signature: error
  host-or-credential-shared:
    - paths: ["services/config/resources/core/ignition/email-profile/**"]
      severity: "off"
\`\`\`

The agent validates what templates and patches produce, and ignores \`.clustersync.yaml\`. A *singleton* is a resource that every gateway has exactly once, such as its security properties.
`

export async function rulePages(): Promise<GeneratedFile[]> {
  return [
    {
      path: 'docs/reference/rules.md',
      content: `${head}\n${table(['Rule', 'Severity', 'Meaning', 'Fix', 'Evidence'], ruleIds.map(rowOf))}\n`,
    },
  ]
}

function rowOf(id: RuleId): string[] {
  const { severity, title, why, fix, evidence } = rules[id]
  return [`\`${id}\``, severity, `${title} ${why}`, fix, evidence]
}
