/**
 * Renders a file's content from its blob: first the template, then the patches in the order of the spec. Loaded only for a profile that has
 * either, because every import costs the agent memory. Pure.
 */
import type { BlobId } from '../../content/protocol/protocol.ts'
import { Fault } from '../../platform/fault.ts'
import type { Finding } from '../model/findings.ts'
import { renderKey, type TemplateContext } from './context.ts'
import { blobIdOf, type Rendered } from '../model/manifest.ts'
import type { Recipe } from './context.ts'
import { applySettings } from './patch.ts'
import { createTemplateEngine, type ParsedTemplate } from './template.ts'

/** The templates and patches of one gateway. */
export type Renderer = {
  /** Renders a mapping's source or destination. Throws TemplateFailed. */
  path(text: string, label: string): string
  /** Throws TemplateFailed naming the file. */
  file(path: string, id: BlobId, content: Uint8Array, recipe: Recipe): { content: Uint8Array; rendered: Rendered; findings: Finding[] }
}

/** How many parsed patch values are cached: one serves every file that its glob matches. */
const maxKeptTemplates = 2_000

/** Create one per plan: it caches what it has parsed, and reads variables from `context`. */
export function createRenderer(context: TemplateContext): Renderer {
  const engine = createTemplateEngine()
  const values = new Map<string, ParsedTemplate>()
  const parseValue = (text: string, label: string): ParsedTemplate => {
    const known = values.get(text)
    if (known !== undefined) return known
    const parsed = engine.parse(text, label)
    if (values.size < maxKeptTemplates) values.set(text, parsed)
    return parsed
  }
  return {
    path: (text, label) => engine.parse(text, label).render(context),
    file(path, id, content, recipe) {
      const uses: string[][] = []
      const findings: Finding[] = []
      let text = decode(content, path)
      if (recipe.template) {
        const template = engine.parse(text, `"${path}"`)
        uses.push(...template.uses)
        text = template.render(context)
      }
      for (const patch of recipe.patches) {
        const settings = Object.entries(patch.set).map(([key, value]) => {
          const template = parseValue(value, `patch of "${path}"`)
          uses.push(...template.uses)
          return { path: key, value: template.render(context) }
        })
        const applied = applySettings(text, settings, `patch of "${path}"`)
        text = applied.text
        for (const key of applied.unmatched)
          findings.push({ rule: 'patch-without-match', path, message: `"${key}" matches nothing in this file` })
      }
      const made = Buffer.from(text, 'utf8')
      const unique = [...new Map(uses.map((use) => [JSON.stringify(use), use])).values()]
      const key = renderKey(recipe, unique, context)
      return { content: made, rendered: { uses: unique, key, id: blobIdOf(id, made) }, findings }
    },
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** Only text is rendered: an image or archive would be damaged. */
function decode(content: Uint8Array, path: string): string {
  if (content.includes(0)) throw binary(path)
  try {
    return decoder.decode(content)
  } catch (error) {
    throw binary(path, error)
  }
}

function binary(path: string, cause?: unknown): Fault {
  const message = `"${path}" is not text in UTF-8 and cannot be rendered or patched; exclude it, or map it without template`
  return new Fault('TemplateFailed', message, { cause })
}
