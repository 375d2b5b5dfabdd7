/**
 * A plugin of Stryker: leaves out the descriptions of values and fields. They are the sentences that end with a period; `npm run check`
 * compares them with the generated reference.
 */

/** What Stryker passes of Babel's tree. */
type Path = { node: { type: string; value?: unknown; quasis?: readonly { value: { raw: string } }[] } }

const descriptions = {
  shouldIgnore({ node: { type, value, quasis = [] } }: Path): string | undefined {
    const text = type === 'StringLiteral' ? value : type === 'TemplateLiteral' ? quasis.map((part) => part.value.raw).join('x') : undefined
    return typeof text === 'string' && /^[A-Z].*\.$/s.test(text) ? 'a description' : undefined
  },
}

export const strykerPlugins = [{ kind: 'Ignore', name: 'descriptions', value: descriptions }]
