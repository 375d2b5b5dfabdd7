/**
 * Renders templates: LiquidJS without access to files, the clock or random numbers, and with limits on time, memory and output. Two renders
 * of one template with one context produce the same text. Pure.
 */
import { filters as builtInFilters, Liquid, type Template } from 'liquidjs'
import { Fault } from '../../platform/fault.ts'
import type { TemplateContext } from './context.ts'
import { canonicalJson } from '../../platform/text/json.ts'

/** Characters of a template's source, and of its output. */
const maxCharacters = 8 * 1024 * 1024
/** What LiquidJS counts as memory: items of arrays and characters of strings made on the way. */
const maxMemory = 32 * 1024 * 1024
/** A configuration file renders in well under a millisecond. */
const maxRenderMs = 1_000

/**
 * LiquidJS parses tags in quadratic time, and filters of one tag too: 500,000 tags take nine minutes, 20,000 filters one. Within these
 * limits a template is parsed in about a second.
 */
const maxTags = 20_000
const maxTagCharacters = 16 * 1024
const maxAllTagCharacters = 1024 * 1024

/** Tags that read other files; each is refused when the template is parsed, not when it is rendered. */
const refusedTags = ['include', 'render', 'layout', 'block'] as const
/** Filters whose result differs between two renders. */
const refusedFilters = ['sample'] as const
/** Filters that take a point in time, where `now` and `today` would mean the current one. */
const dateFilters = ['date', 'date_to_xmlschema', 'date_to_rfc822', 'date_to_string', 'date_to_long_string'] as const

/** A template that can be rendered any number of times. */
export type ParsedTemplate = {
  /** The variables that it reads, as paths; a path ends before a name that is itself computed. */
  uses: string[][]
  render(context: TemplateContext): string
}

export type TemplateEngine = {
  /** Throws TemplateFailed naming `label` when the template cannot be parsed; its `render` does when it cannot be rendered. */
  parse(text: string, label: string): ParsedTemplate
}

/**
 * One engine serves any number of templates. Limits: 8 Mi characters of source and of output, 20,000 tags, one second per render, 32 Mi
 * items and characters created during a render.
 */
export function createTemplateEngine(): TemplateEngine {
  const liquid = restrictedLiquid()
  return {
    parse(text, label) {
      checkTags(text, label)
      const template = guarded(label, () => liquid.parse(text))
      const uses = guarded(label, () => usesOf(liquid, template))
      return { uses, render: (context) => guarded(label, () => rendered(liquid, template, context, label)) }
    },
  }
}

/** Throws TemplateFailed for more or longer tags than can be parsed in time; text between tags costs nothing. */
function checkTags(text: string, label: string): void {
  let count = 0
  let total = 0
  for (let start = nextTag(text, 0); start >= 0;) {
    const end = text.indexOf(text[start + 1] === '{' ? '}}' : '%}', start + 2)
    // Parsing refuses a tag without an end.
    if (end < 0) return
    const length = end - start
    count += 1
    total += length
    if (length > maxTagCharacters)
      throw new Fault('TemplateFailed', `${label}: a tag has ${length} characters; at most ${maxTagCharacters}`)
    if (count > maxTags) throw new Fault('TemplateFailed', `${label}: there are more than ${maxTags} tags`)
    if (total > maxAllTagCharacters)
      throw new Fault('TemplateFailed', `${label}: all tags have more than ${maxAllTagCharacters} characters`)
    start = nextTag(text, end + 2)
  }
}

function nextTag(text: string, from: number): number {
  const tag = /\{[{%]/g
  tag.lastIndex = from
  return tag.exec(text)?.index ?? -1
}

function restrictedLiquid(): Liquid {
  const noFile = (): never => {
    throw new Error('templates cannot read files')
  }
  const liquid = new Liquid({
    strictVariables: true,
    strictFilters: true,
    ownPropertyOnly: true,
    cache: false,
    dynamicPartials: false,
    relativeReference: false,
    templates: {},
    timezoneOffset: 0,
    locale: 'en-US',
    parseLimit: maxCharacters,
    renderLimit: maxRenderMs,
    memoryLimit: maxMemory,
    fs: {
      exists: async () => false,
      existsSync: () => false,
      readFile: async () => noFile(),
      readFileSync: noFile,
      resolve: noFile,
      contains: async () => false,
      containsSync: () => false,
    },
  })
  for (const name of refusedTags) {
    liquid.registerTag(name, {
      parse: () => {
        throw new Error(`the tag "${name}" is not available: templates cannot read other files`)
      },
      render: () => '',
    })
  }
  for (const name of refusedFilters) {
    liquid.registerFilter(name, () => {
      throw new Error(`the filter "${name}" is not available: its result differs between two renders`)
    })
  }
  for (const name of dateFilters) liquid.registerFilter(name, withoutPresent(name))
  return liquid
}

/** LiquidJS reads `now` and `today` as the current time. */
function withoutPresent(name: (typeof dateFilters)[number]): (this: unknown, value: unknown, ...rest: unknown[]) => unknown {
  const filter = builtInFilters[name] as (this: unknown, value: unknown, ...rest: unknown[]) => unknown
  return function (this: unknown, value: unknown, ...rest: unknown[]) {
    if (typeof value === 'string' && /^\s*(?:now|today)\s*$/i.test(value))
      throw new Error(`"${value}" is not available: it differs between two renders`)
    return filter.call(this, value, ...rest)
  }
}

/** Cuts each path at its first computed name, because everything below may then be read. */
function usesOf(liquid: Liquid, template: Template[]): string[][] {
  const paths = liquid.globalVariableSegmentsSync(template).map((segments) => {
    const computed = segments.findIndex((segment) => typeof segment !== 'string' && typeof segment !== 'number')
    return (computed < 0 ? segments : segments.slice(0, computed)).map(String)
  })
  const unique = new Map(paths.map((path) => [canonicalJson(path), path]))
  return [...unique].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, path]) => path)
}

function rendered(liquid: Liquid, template: Template[], context: TemplateContext, label: string): string {
  // A copy, because the tag `increment` writes into the object that it is given.
  const output: unknown = liquid.renderSync(template, { ...context })
  if (typeof output !== 'string') throw new Fault('TemplateFailed', `${label}: the output is not text`)
  if (output.length > maxCharacters) throw new Fault('TemplateFailed', `${label}: the output is larger than ${maxCharacters} characters`)
  return output
}

function guarded<Value>(label: string, work: () => Value): Value {
  try {
    return work()
  } catch (error) {
    if (error instanceof Fault) throw error
    const message = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
    throw new Fault('TemplateFailed', `${label}: ${message.slice(0, 300)}`, { cause: error })
  }
}
