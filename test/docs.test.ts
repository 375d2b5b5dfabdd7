/**
 * The files, scripts and options in the documentation exist.
 */
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import type { Command } from 'commander'
import t from 'tap'
import { gatewaySyncCrd } from '../infra/crd.ts'
import { createProgram } from '../runtime/cli/program/program.ts'
import * as names from '../runtime/api/names.ts'
import { folderUnverifiedRule } from '../runtime/api/schema/report.ts'
import { parseStandaloneSync } from '../runtime/standalone/settings.ts'
import { maxRenderedBytes } from '../runtime/sync/apply/large-blobs.ts'
import { runCli } from './support/run-cli.ts'

const root = path.resolve(import.meta.dirname, '..')
const read = (file: string): string => readFileSync(path.join(root, file), 'utf8')
const pages = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  ...readdirSync(path.join(root, 'docs'), { recursive: true, encoding: 'utf8' }).map((name) => path.join('docs', name)),
].filter((name) => name.endsWith('.md'))

void t.test('every link of a page leads to an existing file', async (t) => {
  for (const page of pages) {
    const links = [...read(page).matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)].map(([, link = '']) => link)
    const broken = links.filter((link) => !existsSync(path.join(root, path.dirname(page), link)))
    t.strictSame(broken, [], page)
  }
})

void t.test('the text of a link is a title or a phrase and not the name of a page', async (t) => {
  for (const page of pages) t.notMatch(read(page), /\[[\w/.-]+\.md\]\(/, page)
})

/** The anchors of a page's headings, as git hosts generate them. */
function headingsOf(page: string): Set<string> {
  const text = read(page).replaceAll(/^```.*?^```$/gms, '')
  return new Set([...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => addressOf(heading)))
}

function addressOf(heading: string): string {
  const words = heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').trim()
  return words
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-')
}

void t.test('no page has a conflict of a merge', async (t) => {
  for (const page of pages) t.notMatch(read(page), /^(?:<{7}|={7}|>{7})(?: |$)/m, page)
})

void t.test('every link to a heading leads to an existing one', async (t) => {
  for (const page of pages) {
    const links = [...read(page).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)#([^)\s]+)\)/g)]
    const broken = links.filter(([, file = '', heading = '']) => {
      const target = file === '' ? page : path.normalize(path.join(path.dirname(page), file))
      return pages.includes(target) && !headingsOf(target).has(heading)
    })
    t.strictSame(
      broken.map(([link]) => link),
      [],
      page,
    )
  }
})

/** The enumerated fields of a GatewaySync's spec, by name, if all their values start with a capital letter. */
function capitalizedValues(): Map<string, string[]> {
  type Schema = { enum?: string[]; properties?: Record<string, Schema>; items?: Schema; additionalProperties?: Schema }
  const found = new Map<string, string[]>()
  const visit = (name: string, schema: Schema): void => {
    if (schema.enum?.every((value) => /^[A-Z]/.test(value)) === true)
      found.set(name, [...new Set([...(found.get(name) ?? []), ...schema.enum])])
    for (const [member, below] of Object.entries(schema.properties ?? {})) visit(member, below)
    for (const below of [schema.items, schema.additionalProperties]) if (typeof below === 'object') visit(name, below)
  }
  const { versions } = (gatewaySyncCrd() as { spec: { versions: { schema: { openAPIV3Schema: Schema } }[] } }).spec
  for (const { schema } of versions) visit('spec', schema.openAPIV3Schema.properties?.['spec'] ?? {})
  return found
}

void t.test('texts spell the values of enumerated fields as the API does', async (t) => {
  const values = capitalizedValues()
  t.strictSame(values.get('drift'), ['Report', 'Restore', 'Hold'])
  const sources = globSync('runtime/**/*.ts', { cwd: root })
  for (const [name, allowed] of values) {
    const lower = allowed.map((value) => `${value[0]?.toLowerCase()}${value.slice(1)}`).join('|')
    const misspelled = new RegExp(`\\b${name}\\b[\`"']?(?: is| to| auf|:) [\`"']?(?:${lower})\\b[^(]`, 'g')
    const found = [...pages, ...sources].flatMap((file) => [...read(file).matchAll(misspelled)].map(([text]) => `${file}: ${text}`))
    t.strictSame(found, [], name)
  }
})

void t.test('every npm script in a page exists', async (t) => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  for (const page of pages) {
    const named = [...read(page).matchAll(/\bnpm run (?:-s )?([a-z0-9:]+)/g)].map(([, name = '']) => name)
    t.strictSame(
      named.filter((name) => !Object.hasOwn(scripts, name)),
      [],
      page,
    )
  }
})

void t.test('npx commands in a page end the options of npx before the program', async (t) => {
  for (const page of pages) t.notMatch(read(page), /npx (?!--no -- )\S*\s?cluster-sync/, page)
})

void t.test('every GatewaySync in a page is accepted', async (t) => {
  for (const page of pages) {
    for (const [, block = ''] of read(page).matchAll(/```yaml\n(.*?)```/gs)) {
      if (/^kind: GatewaySync$/m.test(block)) t.doesNotThrow(() => parseStandaloneSync(block, page), page)
    }
  }
})

void t.test('the limits in docs/reference/sync.md are those of the code', async (t) => {
  const page = read('docs/reference/sync.md')
  const engine = read('runtime/sync/render/template.ts')
  t.ok(page.includes(`| ${maxRenderedBytes / 1024 / 1024} MiB, text in UTF-8 |`))
  for (const constant of ['maxTags = 20_000', 'maxTagCharacters = 16 * 1024', 'maxAllTagCharacters = 1024 * 1024', 'maxRenderMs = 1_000'])
    t.ok(engine.includes(`const ${constant}\n`), constant)
  t.ok(read('runtime/sync/render/patch.ts').includes('const maxValues = 200_000\n'))
  t.match(page, /200,000 values/)
  t.match(page, /20,000 of at most 16 Ki characters each, 1 Mi in total/)
  t.match(page, /8 Mi characters, 1 s/)
})

void t.test('the findings in docs/reference/sync.md are those of the engine', async (t) => {
  const engine = readdirSync(path.join(root, 'runtime/sync'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `runtime/sync/${name}`)
  const sources = [...engine, 'runtime/validation/model/delivered-chain.ts'].map(read)
  const inCode = sources.flatMap((text) =>
    [...text.matchAll(/\brule(?:: | = .*\? )'([a-z0-9-]+)'(?: : '([a-z0-9-]+)')?/g)].flatMap(([, one, other]) => [one, other]),
  )
  if (sources.some((text) => text.includes('rule: folderUnverifiedRule'))) inCode.push(folderUnverifiedRule)
  const named = [...read('docs/reference/sync.md').matchAll(/^\| (`[a-z0-9-]+`(?:, `[a-z0-9-]+`)*) \|/gm)].flatMap(
    ([, cell = '']) => cell.match(/[a-z0-9-]+/g) ?? [],
  )
  t.strictSame([...new Set(named)].toSorted(), [...new Set(inCode.filter((name) => name !== undefined))].toSorted())
})

void t.test('the command reference has exactly the existing commands', async (t) => {
  const commands = async (...args: string[]): Promise<string[]> => {
    const { stdout } = await runCli([...args, '--help'])
    const [lists = ''] = stdout.split(/^\S.* codes:$/m)
    return [...lists.matchAll(/^ {2}([a-z]+)(?: |$)/gm)].map(([, name = '']) => name).filter((name) => name !== 'help')
  }
  const modes = (await commands('mode')).map((name) => `mode ${name}`)
  const known = (await commands()).flatMap((name) => (name === 'mode' ? modes : [name]))
  const named = [...read('docs/reference/commands.md').matchAll(/^\| `((?:mode )?[a-z]+) /gm)].map(([, name = '']) => name)
  t.strictSame(new Set(named), new Set(known))
})

void t.test('the help of every command has its exit codes', async (t) => {
  const leaves = (command: Command): Command[] => (command.commands.length === 0 ? [command] : command.commands.flatMap(leaves))
  for (const command of leaves(createProgram())) {
    let help = ''
    command.configureOutput({ writeOut: (text) => void (help += text) }).outputHelp()
    t.match(help, /^Exit codes:$/m, command.name())
  }
})

void t.test('the table of annotations and labels has all names', async (t) => {
  const [, section = ''] = read('docs/reference/operations.md').split(/^## Annotations and labels$|^## Other behavior$/m)
  const listed = [...section.matchAll(/^\|[^|]*\|([^|]*)\|/gm)].flatMap(([, cell = '']) =>
    [...cell.matchAll(/`([a-z-]+)`/g)].map(([, name = '']) => name),
  )
  const { deliveryToken: _audience, ...inUse } = names
  const inCode = [...JSON.stringify(inUse).matchAll(/"clustersync\.io\/([a-z-]+)"/g)].map(([, name = '']) => name)
  t.strictSame(listed.filter((name) => name !== 'enabled').toSorted(), inCode.toSorted())
})

void t.test('docs/how-to/gateways.md has the annotations that a user sets on a pod', async (t) => {
  const { injected, ...asked } = names.podAnnotations
  const named = [...read('docs/how-to/gateways.md').matchAll(/^\| `([a-z.]+\/[a-z-]+)` \|/gm)].map(([, name = '']) => name)
  t.strictSame(new Set(named), new Set(Object.values(asked)))
  t.equal(named.includes(injected), false)
})

void t.test('every option on the page of the standalone runner exists', async (t) => {
  const { stdout } = await runCli(['run', '--help'])
  const options = (text: string): string[] =>
    [...new Set([...text.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(([name]) => name))].toSorted((a, b) => (a < b ? -1 : 1))
  const page = read('docs/how-to/standalone.md')
  const ofOthers = ['--no', '--help', '--version', '--global', '--now', '--unit', '--follow', '--detach']
  const known = [...options(stdout), ...ofOthers]
  t.strictSame(
    options(page).filter((name) => !known.includes(name)),
    [],
  )
})

void t.test('the images are built before anything is installed on a cluster', async (t) => {
  for (const page of ['README.md', 'docs/how-to/install.md']) {
    const first = read(page).search(/kubectl apply|helm install/)
    const built = read(page).indexOf('npm run images')
    t.ok(built >= 0 && first >= 0 && built < first, page)
  }
})
