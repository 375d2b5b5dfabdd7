/**
 * `npm run docs [-- folder] [--source <url>] [--serve] [--port <port>]`: writes the documentation as a searchable site, to build/docs or
 * the given folder. A dead link and a page that is missing in the navigation are errors. --source is the URL of the repository's files, so
 * that pages link to them, and --serve shows the site on this machine until Ctrl-C.
 */
import path from 'node:path'
import { parseArgs } from 'node:util'
import { serveFolder } from './docs/serve.ts'
import { siteOfCheckout, writeSite } from './docs/write.ts'

const options = {
  source: { type: 'string' },
  serve: { type: 'boolean', default: false },
  port: { type: 'string', default: '8080' },
} as const

try {
  const { values, positionals } = parseArgs({ allowPositionals: true, options })
  if (positionals.length > 1) throw new Error(`one folder at most, and here are ${positionals.length}: ${positionals.join(', ')}`)
  if (values.source !== undefined && !/^https?:\/\//.test(values.source))
    throw new Error('--source takes an address that begins with https://')
  if (!/^\d{1,5}$/.test(values.port)) throw new Error(`--port takes a number, and here is ${values.port}`)
  await main(path.resolve(positionals[0] ?? path.join(import.meta.dirname, '../build/docs')), values)
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}

async function main(folder: string, { source, serve, port }: { source?: string; serve: boolean; port: string }): Promise<void> {
  const site = siteOfCheckout(source)
  if (site.problems.length > 0) throw new Error(`there is no site as long as this is so:\n${site.problems.join('\n')}`)
  await writeSite(site, folder)
  process.stdout.write(`wrote ${path.relative(process.cwd(), folder)}: ${site.files.size - 1} pages; open index.html in it\n`)
  if (!serve) return
  const { server, url } = await serveFolder(folder, Number(port))
  process.stdout.write(`serving ${url} until Ctrl-C\n`)
  process.once('SIGINT', () => server.close().closeAllConnections())
}
