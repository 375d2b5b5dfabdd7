/**
 * docs/how-to/runbook.md has an entry for each alert and each reason, and every command, field, value and section in it exists.
 */
import { existsSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { alertRules } from '../infra/constructs/alerts.ts'
import { install } from '../infra/install.ts'
import { namesOf } from '../infra/names.ts'
import { checkValues } from '../infra/values/check.ts'
import { reasons } from '../runtime/platform/fault.ts'
import { conditionReasons } from '../runtime/api/schema/conditions.ts'
import {
  agentContainerName,
  confirmDeletionsAnnotation,
  confirmOverwritesAnnotation,
  gatewayContainerName,
  gatewaySyncKind,
  injectionNamespaceLabel,
  metricsReaderLabel,
  podAnnotations,
  requestAnnotations,
  syncReportKind,
} from '../runtime/api/names.ts'
import { runCli } from './support/run-cli.ts'
import { containsText } from './support/assertions.ts'

const root = path.resolve(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8')
const page = read('docs/how-to/runbook.md')

const { values } = checkValues({})
const names = namesOf(install.release, values, '')
const alertNames = alertRules(names, values.prometheusRule).map(({ alert }) => alert)

type Entry = { name: string; text: string }

function entriesOf(section: string): Entry[] {
  const [, after = ''] = page.split(`\n## ${section}\n`)
  const [whole = ''] = after.split(/^## /m)
  return whole
    .split(/^### /m)
    .slice(1)
    .map((text) => ({ name: text.slice(0, text.indexOf('\n')), text }))
}

/** The code of the text with wrapped lines joined: inline, and each line of a block. */
function codeIn(text: string): string[] {
  const blocks = [...text.matchAll(/^```sh\n([^]*?)^```$/gm)].flatMap(([, block = '']) => block.split('\n').filter(Boolean))
  const inline = [...text.replaceAll(/^```[^]*?^```$/gm, '').matchAll(/`([^`]+)`/g)].map(([, code = '']) => code.replaceAll(/\s+/g, ' '))
  return [...blocks, ...inline]
}

/** The words of a command; a quoted text is one word. */
const wordsOf = (command: string): string[] => command.match(/(?:"(?:\\.|[^"])*"|'[^']*'|[^\s"'])+/g) ?? []

void t.test('exactly the alerts and reasons have entries, in the order of their tables', async (t) => {
  t.strictSame(
    entriesOf('Alerts').map(({ name }) => name),
    alertNames,
  )
  t.strictSame(
    entriesOf('Reasons').map(({ name }) => name),
    Object.keys(reasons),
  )
})

void t.test('an entry explains its meaning, the check and the fix', async (t) => {
  for (const { name, text } of [...entriesOf('Alerts'), ...entriesOf('Reasons')]) {
    const [, meaning = ''] = text.split('\n\n')
    t.match(meaning, /^(?:[A-Z]|git |`)[^]{20,}?\. \*\*(?:Impact|Check):/, `${name} begins with its meaning`)
    t.strictSame(
      [...text.matchAll(/\*\*([^*]+):\*\* \S/g)].flatMap(([, label]) => (label === 'Impact' ? [] : [label])),
      ['Check', 'Fix'],
      name,
    )
    const [, poll = ''] = /\*\*Check:\*\*([^]*?)\*\*Fix:\*\*/.exec(text) ?? []
    const commands = codeIn(poll).filter((code) => /^(?:kubectl|cluster-sync|git|openssl|ssh-keyscan|curl|df) /.test(code))
    t.ok(commands.length > 0, `${name} has a command to check with`)
  }
})

void t.test('kubectl commands use existing verbs, kinds and names', async (t) => {
  const kinds = [
    ...[gatewaySyncKind, syncReportKind].flatMap(({ plural, singular }) => [plural, singular]),
    'pod',
    'pods',
    'secret',
    'secrets',
    'events',
    'lease',
    'certificate',
    'endpointslices',
    'rolebindings',
    'crd',
  ]
  const verbs = new Set(['get', 'describe', 'logs', 'wait', 'annotate', 'patch', 'rollout', 'create', 'exec', 'apply', 'auth', 'version'])
  const flags =
    /^--(all-namespaces|namespace|container|since|previous|for|timeout|type|patch|output|overwrite|field-selector|selector|raw|as|from-file|server-side|force-conflicts|show-managed-fields)(=|$)/
  const commands = codeIn(page).filter((code) => code.startsWith('kubectl '))
  t.ok(commands.length > 40)
  for (const command of commands) {
    const [, verb = '', ...words] = wordsOf(command)
    t.ok(verb === 'wait' || verbs.has(verb), command)
    t.strictSame(
      words.filter((word) => word.startsWith('--') && word !== '--' && !flags.test(word)),
      [],
      command,
    )
    if (!['get', 'describe', 'annotate', 'patch', 'wait'].includes(verb) || words[0]?.startsWith('--') === true) continue
    const named = (words[0] ?? '').split('/')[0]?.split(',') ?? []
    t.strictSame(
      named.filter((kind) => !kinds.includes(kind)),
      [],
      command,
    )
    const isClusterWide = /--all-namespaces|get crd /.test(command)
    t.ok(isClusterWide || /--namespace \S+/.test(command), `${command} names a namespace`)
  }
  const containers = [...page.matchAll(/--container (\S+?)[`\s]/g)].map(([, name]) => name)
  t.strictSame(new Set(containers), new Set([agentContainerName, gatewayContainerName]))
  containsText(t, page, `kubectl logs deployment/${names.fullname} --namespace ${install.release.namespace}`)
  containsText(t, page, `kubectl get lease ${names.fullname} --namespace ${install.release.namespace}`)
  containsText(t, page, `\`${names.metricsReaderRole}\``)
  containsText(t, page, `system:serviceaccount:${install.release.namespace}:${names.serviceAccount}`)
})

void t.test('the cluster-sync commands and their options exist', async (t) => {
  const commands = codeIn(page).filter((code) => code.startsWith('cluster-sync '))
  t.ok(commands.length > 0)
  const helpOf = new Map<string, string>()
  for (const command of commands) {
    const [, name = '', ...words] = wordsOf(command)
    if (!helpOf.has(name)) helpOf.set(name, (await runCli([name, '--help'])).stdout)
    if (words[0] === 'plant') containsText(t, command, '--namespace plant')
    for (const option of words.filter((word) => /^--?[a-z]/.test(word))) {
      t.match(helpOf.get(name), new RegExp(`(^|[\\s,])${option}\\b`, 'm'), command)
    }
  }
})

void t.test('the named fields, values, annotations, labels and reasons exist', async (t) => {
  const definitions = read('dist/crds.k8s.yaml')
  const valueKeys = [...read('docs/reference/values.md').matchAll(/^\| `([^`]+)` \|/gm)].map(([, key = '']) => key)
  const tops = new Set(valueKeys.map((key) => key.split('.')[0]))
  const known = new Set<string>([...Object.keys(reasons), ...Object.keys(conditionReasons), ...alertNames])
  const keys = [
    ...Object.values(podAnnotations),
    ...Object.values(requestAnnotations),
    confirmDeletionsAnnotation,
    confirmOverwritesAnnotation,
    injectionNamespaceLabel.key,
    metricsReaderLabel.key,
  ]
  for (const code of codeIn(page)) {
    const field = /^(?:spec|status)((?:\.[a-zA-Z]+)+)/.exec(code)?.[1]
    for (const part of field?.split('.').slice(1) ?? []) t.match(definitions, new RegExp(`^ +${part}:`, 'm'), code)
    const [key = ''] = code.split(':')
    if (/^[a-zA-Z]+(\.[a-zA-Z]+)+$/.test(key) && tops.has(key.split('.')[0])) {
      t.ok(
        valueKeys.some((one) => one === key || one.startsWith(`${key}.`)),
        code,
      )
    }
    for (const [name] of code.matchAll(/clustersync\.io\/[a-z-]+/g)) t.ok(keys.includes(name), name)
    for (const [, reason = ''] of code.matchAll(/reason=(\w+)/g))
      t.ok(
        known.has(reason) || (read('docs/reference/operations.md') + read('docs/how-to/webhooks/README.md')).includes(`\`${reason}\``),
        reason,
      )
  }
  for (const [, name = ''] of page.matchAll(/\[(\w+)\]\(#\w+\)/g)) if (/^[A-Z]\w+[A-Z]/.test(name)) t.ok(known.has(name), name)
})

void t.test('every linked section exists', async (t) => {
  const sectionsOf = (file: string): string[] =>
    [...read(file).matchAll(/^#+ (.*)$/gm)].map(([, title = '']) =>
      title
        .toLowerCase()
        .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
        .replaceAll(' ', '-'),
    )
  for (const from of ['docs/how-to/runbook.md', 'docs/reference/operations.md']) {
    for (const [, file = '', section = ''] of read(from).matchAll(/\]\(([\w/.-]*\.md)?#([^)]+)\)/g)) {
      const target = file === '' ? from : path.join(path.dirname(from), file)
      t.ok(existsSync(path.join(root, target)) && sectionsOf(target).includes(section), `${from}: ${file}#${section}`)
    }
  }
})
