/**
 * How an image starts its program: Node flags and environment, so that measurements run like the image.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'

type Program = 'controller' | 'agent'

export function imageFlags(program: Program): string[] {
  const [, list = '[]'] = /^ENTRYPOINT (\[.*\])$/m.exec(stageOf(program)) ?? []
  return (JSON.parse(list) as string[]).filter((word) => word.startsWith('--'))
}

/** The variables of the image's `ENV`. */
export function imageEnvironment(program: Program): Record<string, string> {
  const lines = [...stageOf(program).matchAll(/^ENV (.*)$/gm)].map(([, settings = '']) => settings)
  return Object.fromEntries(
    lines
      .flatMap((line) => line.split(' '))
      .map((setting) => [setting.slice(0, setting.indexOf('=')), setting.slice(setting.indexOf('=') + 1)]),
  )
}

/** The stage of the Dockerfile that ends with the program. */
function stageOf(program: Program): string {
  const text = readFileSync(path.resolve(import.meta.dirname, '../../Dockerfile'), 'utf8')
  const stage = text.split(/^FROM /m).find((each) => each.includes(`"/app/${program}.js"]`))
  if (stage === undefined) throw new Error(`Dockerfile has no ENTRYPOINT that ends with /app/${program}.js`)
  return stage
}
