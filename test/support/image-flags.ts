/**
 * The flags of Node that an image starts its program with, so that measurements run like the image.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'

export function imageFlags(program: 'controller' | 'agent'): string[] {
  const text = readFileSync(path.resolve(import.meta.dirname, '../../Dockerfile'), 'utf8')
  for (const [, list = ''] of text.matchAll(/^ENTRYPOINT (\[.*\])$/gm)) {
    const command = JSON.parse(list) as string[]
    if (command.at(-1) === `/app/${program}.js`) return command.filter((word) => word.startsWith('--'))
  }
  throw new Error(`Dockerfile has no ENTRYPOINT that ends with /app/${program}.js`)
}
