/**
 * A plugin of oxlint: assertions in tests are strict, and every test has one.
 *
 * tap compares loosely in `same` and `has`, and takes a text that contains the expected one for a match; test/support/assertions.ts has what
 * compares a part of a value strictly.
 */
type Node = { readonly type: string; readonly [key: string]: unknown }
type Call = Node & { readonly callee: Node; readonly arguments: readonly Node[] }
type Context = { report(finding: { node: Node; message: string }): void }

const loose = new Map([
  ['same', 'strictSame'],
  ['notSame', 'strictNotSame'],
  ['has', 'matchObject'],
  ['hasStrict', 'matchObject'],
  ['matchOnly', 'strictSame'],
  ['matchStrict', 'matchObject'],
  ['matchOnlyStrict', 'strictSame'],
])
const noAssertions = new Set(['teardown', 'testdir', 'end', 'comment', 'plan', 'context', 'before', 'beforeEach', 'after', 'afterEach'])

/** `t.match` and the like compare with a regular expression alone, and what compares loosely is not used. */
const strict = {
  create: (context: Context) => ({
    CallExpression(node: Call) {
      const method = methodOf(node, 't')
      if (method === undefined) return
      const better = loose.get(method)
      const [, pattern] = node.arguments
      if (better !== undefined) context.report({ node, message: `t.${method} compares loosely: use ${better}` })
      else if (method === 'match' && !isExpression(pattern))
        context.report({
          node,
          message: 't.match takes a part for the whole: compare with a regular expression, or use t.equal, matchObject or containsText',
        })
      else if (method === 'notMatch' && !isExpression(pattern))
        context.report({
          node,
          message: 't.notMatch passes for every value that is not a string: compare with a regular expression, or use lacksText',
        })
      else if ((method === 'throws' || method === 'rejects') && isObject(pattern))
        context.report({ node, message: `t.${method} takes a part of a message for the whole: use throwsError or rejectsWith` })
    },
  }),
}

/** A test calls an assertion, `fc.assert`, or a function that gets its `t`. */
const asserted = {
  create: (context: Context) => ({
    CallExpression(node: Call) {
      const fn = node.arguments.at(-1)
      if (methodOf(node, 't') !== 'test' || fn === undefined || !/Function/.test(fn.type)) return
      const [param] = fn['params'] as readonly Node[]
      const own = (param?.['name'] as string | undefined) ?? ''
      const isAsserted = (call: Call): boolean => {
        const method = methodOf(call, own)
        if (method !== undefined) return !noAssertions.has(method)
        return methodOf(call, 'fc') === 'assert' || call.arguments.some(({ type, name }) => type === 'Identifier' && name === own)
      }
      if (!hasCall(fn['body'], isAsserted)) context.report({ node, message: 'the test asserts nothing' })
    },
  }),
}

/** The method that is called of the object of this name. */
function methodOf({ callee }: Call, object: string): string | undefined {
  const [of, property] = [callee['object'] as Node | undefined, callee['property'] as Node | undefined]
  return callee.type === 'MemberExpression' && of?.['name'] === object ? (property?.['name'] as string | undefined) : undefined
}

function isExpression(node: Node | undefined): boolean {
  if (node === undefined) return false
  if (node.type === 'ConditionalExpression') return isExpression(node['consequent'] as Node) && isExpression(node['alternate'] as Node)
  if (node.type === 'NewExpression') return (node['callee'] as Node)['name'] === 'RegExp'
  return node.type === 'Literal' && node['regex'] !== undefined
}

function isObject(node: Node | undefined): boolean {
  return node !== undefined && ['ObjectExpression', 'NewExpression'].includes(node.type) && !isExpression(node)
}

function hasCall(value: unknown, is: (call: Call) => boolean): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some((item) => hasCall(item, is))
  if ((value as Node).type === 'CallExpression' && is(value as Call)) return true
  return Object.entries(value).some(([key, part]) => key !== 'parent' && hasCall(part, is))
}

// oxlint requires this.
// eslint-disable-next-line import/no-default-export
export default { meta: { name: 'assertions' }, rules: { strict, asserted } }
