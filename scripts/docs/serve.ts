/**
 * Serves a folder over HTTP, only to this machine.
 */
import { createReadStream, realpathSync, statSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import path from 'node:path'

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.webp': 'image/webp',
}

/** Listens on the loopback address; port 0 takes any. The folder is served below `prefix`, such as `/docs/`. */
export function serveFolder(folder: string, port: number, prefix = '/'): Promise<{ server: Server; url: string }> {
  const root = realpathSync(folder)
  const server = createServer((request, response) => {
    const file = fileOf(root, prefix, request.url ?? '/')
    if (file === undefined || (request.method !== 'GET' && request.method !== 'HEAD')) {
      response.writeHead(file === undefined ? 404 : 405, { 'content-type': 'text/plain' }).end('not here\n')
      return
    }
    const { size } = statSync(file)
    response.writeHead(200, { 'content-type': types[path.extname(file)] ?? 'application/octet-stream', 'content-length': size })
    if (request.method === 'HEAD') response.end()
    else createReadStream(file).pipe(response)
  })
  return new Promise((resolve, reject) => {
    server.on('error', reject)
    server.listen(port, '127.0.0.1', () => {
      const address = server.address()
      const bound = typeof address === 'object' && address !== null ? address.port : port
      resolve({ server, url: `http://127.0.0.1:${bound}${prefix}` })
    })
  })
}

function fileOf(root: string, prefix: string, url: string): string | undefined {
  try {
    const { pathname } = new URL(url, 'http://localhost')
    const name = decodeURIComponent(pathname)
    if (!name.startsWith(prefix)) return undefined
    const full = path.join(root, name.slice(prefix.length), name.endsWith('/') ? 'index.html' : '')
    const file = realpathSync(full)
    return file.startsWith(root + path.sep) && statSync(file).isFile() ? file : undefined
  } catch {
    return undefined
  }
}
