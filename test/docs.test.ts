/**
 * The documentation names what is there: files, scripts, options.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { podAnnotations } from '../runtime/gatewaysync/names.ts'
import { parseStandaloneSync } from '../runtime/standalone/settings.ts'
import { maxRenderedBytes } from '../runtime/sync/publish/large-blobs.ts'
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

void t.test('every link of a page leads to a file that is there', async (t) => {
  for (const page of pages) {
    const links = [...read(page).matchAll(/\]\((?!https?:|mailto:|#)([^)#\s]+)/g)].map(([, link = '']) => link)
    const broken = links.filter((link) => !existsSync(path.join(root, path.dirname(page), link)))
    t.same(broken, [], page)
  }
})

/** The headings of a page, as code hosts make addresses of them. */
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

void t.test('every link to a heading leads to one that the page has', async (t) => {
  for (const page of pages) {
    const links = [...read(page).matchAll(/\]\((?!https?:|mailto:)([^)#\s]*)#([^)\s]+)\)/g)]
    const broken = links.filter(([, file = '', heading = '']) => {
      const target = file === '' ? page : path.normalize(path.join(path.dirname(page), file))
      return pages.includes(target) && !headingsOf(target).has(heading)
    })
    t.same(
      broken.map(([link]) => link),
      [],
      page,
    )
  }
})

void t.test('every npm script that a page names exists', async (t) => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  for (const page of pages) {
    const named = [...read(page).matchAll(/\bnpm run (?:-s )?([a-z0-9:]+)/g)].map(([, name = '']) => name)
    t.same(
      named.filter((name) => !Object.hasOwn(scripts, name)),
      [],
      page,
    )
  }
})

void t.test('a page calls the program so that npx takes none of its options for its own', async (t) => {
  for (const page of pages) t.notMatch(read(page), /npx (?!--no -- )\S*\s?cluster-sync/, page)
})

void t.test('every GatewaySync that a page shows is one that is accepted', async (t) => {
  for (const page of pages) {
    for (const [, block = ''] of read(page).matchAll(/```yaml\n(.*?)```/gs)) {
      if (/^kind: GatewaySync$/m.test(block)) t.doesNotThrow(() => parseStandaloneSync(block, page), page)
    }
  }
})

void t.test('the limits that docs/sync.md states are those of the code', async (t) => {
  const page = read('docs/sync.md')
  const engine = read('runtime/sync/render/template.ts')
  t.ok(page.includes(`| ${maxRenderedBytes / 1024 / 1024} MiB, text in UTF-8 |`))
  for (const constant of ['maxTags = 20_000', 'maxTagCharacters = 16 * 1024', 'maxAllTagCharacters = 1024 * 1024', 'maxRenderMs = 1_000'])
    t.ok(engine.includes(`const ${constant}\n`), constant)
  t.ok(read('runtime/sync/render/patch.ts').includes('const maxValues = 200_000\n'))
  t.match(page, /200,000 values/)
  t.match(page, /20,000 of at most 16 Ki characters each, 1 Mi in all/)
  t.match(page, /8 Mi characters, 1 s/)
})

void t.test('the findings that docs/sync.md names are those of the engine', async (t) => {
  const engine = readdirSync(path.join(root, 'runtime/sync'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `runtime/sync/${name}`)
  const sources = [...engine, 'runtime/collections/model/delivered-chain.ts'].map(read)
  const inCode = sources.flatMap((text) =>
    [...text.matchAll(/\brule(?:: | = .*\? )'([a-z0-9-]+)'(?: : '([a-z0-9-]+)')?/g)].flatMap(([, one, other]) => [one, other]),
  )
  const named = [...read('docs/sync.md').matchAll(/^\| (`[a-z0-9-]+`(?:, `[a-z0-9-]+`)*) \|/gm)].flatMap(
    ([, cell = '']) => cell.match(/[a-z0-9-]+/g) ?? [],
  )
  t.same([...new Set(named)].toSorted(), [...new Set(inCode.filter((name) => name !== undefined))].toSorted())
})

void t.test('the page of the command line names every command, and no other', async (t) => {
  const commands = async (...args: string[]): Promise<string[]> => {
    const { stdout } = await runCli([...args, '--help'])
    const [, list = ''] = stdout.split('\nCommands:\n')
    return [...list.matchAll(/^ {2}([a-z]+)/gm)].map(([, name = '']) => name).filter((name) => name !== 'help')
  }
  const modes = (await commands('mode')).map((name) => `mode ${name}`)
  const known = (await commands()).flatMap((name) => (name === 'mode' ? modes : [name]))
  const named = [...read('docs/commands.md').matchAll(/^\| `((?:mode )?[a-z]+) /gm)].map(([, name = '']) => name)
  t.same(new Set(named), new Set(known))
})

void t.test('docs/gateways.md names the annotations that a user sets on a pod', async (t) => {
  const { injected, ...asked } = podAnnotations
  const named = [...read('docs/gateways.md').matchAll(/^\| `([a-z.]+\/[a-z-]+)` \|/gm)].map(([, name = '']) => name)
  t.same(new Set(named), new Set(Object.values(asked)))
  t.notMatch(named, injected)
})

void t.test('the page of the standalone runner and its help text name the same options', async (t) => {
  const { stdout } = await runCli(['run', '--help'])
  const options = (text: string): string[] =>
    [...new Set([...text.matchAll(/(?<![\w-])--[a-z][a-z-]+/g)].map(([name]) => name))].toSorted((a, b) => (a < b ? -1 : 1))
  const page = read('docs/standalone.md')
  const ofOthers = ['--no', '--help', '--version', '--global', '--now', '--unit', '--follow', '--detach']
  t.same(
    options(page).filter((name) => !ofOthers.includes(name)),
    options(stdout).filter((name) => !ofOthers.includes(name)),
  )
})
