import { createHash } from 'node:crypto'
import t from 'tap'
import type { BlobId } from '../../../../runtime/content/protocol/protocol.ts'
import { Fault } from '../../../../runtime/platform/fault.ts'
import { renderKey, templateContext, type Recipe } from '../../../../runtime/sync/render/context.ts'
import { createRenderer } from '../../../../runtime/sync/render/render.ts'
import type { SyncTarget } from '../../../../runtime/sync/model/desired.ts'

const facts = { gatewayName: 'gw', podName: 'gw-1', ordinal: 1, podLabels: { site: 'north' }, namespace: 'plant', mode: undefined }
const vars = { host: 'h', port: '8088' }
const target = { commit: 'c'.repeat(40), ref: 'refs/heads/main', profile: { vars }, facts } as unknown as SyncTarget
const context = templateContext(target)

const gitId = (content: string | Buffer, hash = 'sha1'): BlobId =>
  createHash(hash)
    .update(`blob ${Buffer.byteLength(content)}\0`)
    .update(content)
    .digest('hex') as BlobId

function render(content: string | Buffer, recipe: Partial<Recipe>, id = gitId('')) {
  try {
    const made = createRenderer(context).file('a/b.json', id, Buffer.from(content), { template: false, patches: [], ...recipe })
    return { text: Buffer.from(made.content).toString('utf8'), ...made.rendered, findings: made.findings }
  } catch (error) {
    return error instanceof Fault ? [error.reason, error.message] : error
  }
}

void t.test('templates read the gateway, the pod, the namespace, the source and the variables', async (t) => {
  t.strictSame(context, {
    gateway: { name: 'gw' },
    pod: { name: 'gw-1', ordinal: 1, labels: { site: 'north' } },
    namespace: 'plant',
    ref: 'refs/heads/main',
    commit: 'c'.repeat(40),
    vars,
  })
  t.equal(createRenderer(context).path('{{ pod.name }}/{{ vars.host }}', 'source'), 'gw-1/h')
})

void t.test('a file is rendered first and patched then, in the order of the patches, and lists what it read', async (t) => {
  const patches = [
    { file: '**', set: { a: '{{ vars.port }}', b: '{{ pod.ordinal }}' } },
    { file: 'a/*', set: { a: '{{ vars.host }}{{ vars.port }}', nope: '1' } },
  ]
  const recipe = { template: true, patches }
  const text = '{"a":"h8088","b":1,"c":"h"}'
  const uses = [
    ['vars', 'host'],
    ['vars', 'port'],
    ['pod', 'ordinal'],
  ]
  t.strictSame(render('{"a":"x","b":0,"c":"{{ vars.host }}"}', recipe), {
    text,
    uses,
    key: renderKey(recipe, uses, context),
    id: gitId(text),
    findings: [{ rule: 'patch-without-match', path: 'a/b.json', message: '"nope" matches nothing in this file' }],
  })
  t.strictSame(render('{"c":"{{ vars.host }}"}', { patches: [{ file: '**', set: { c: 'x' } }] }), {
    text: '{"c":"x"}',
    uses: [],
    key: renderKey({ template: false, patches: [{ file: '**', set: { c: 'x' } }] }, [], context),
    id: gitId('{"c":"x"}'),
    findings: [],
  })
  t.strictSame(
    (render('\uFEFFé', {}, gitId('', 'sha256')) as { id: string }).id,
    gitId('\uFEFFé', 'sha256'),
    'in the object format of the blob',
  )
})

void t.test('a file that is not text, or that cannot be rendered, is named', async (t) => {
  const binary = '"a/b.json" is not text in UTF-8 and cannot be rendered or patched; exclude it, or map it without template'
  for (const content of [Buffer.from([0xff, 0xfe]), Buffer.from('a\0b'), Buffer.from([0])])
    t.strictSame(render(content, { template: true }), ['TemplateFailed', binary])
  t.strictSame(render('{{ vars.nope }}', { template: true }), [
    'TemplateFailed',
    '"a/b.json": undefined variable: vars.nope, line:1, col:4',
  ])
  t.strictSame(render('{"a":1}', { patches: [{ file: '**', set: { a: 'x' } }] }), [
    'TemplateFailed',
    'patch of "a/b.json": a: the current value is a number, but "x" is not',
  ])
  t.strictSame(render('{"a":1}', { patches: [{ file: '**', set: { a: '{{ vars.nope }}' } }] }), [
    'TemplateFailed',
    'patch of "a/b.json": undefined variable: vars.nope, line:1, col:4',
  ])
})

void t.test('the key differs exactly when the recipe or a value that was read differs', async (t) => {
  const recipe: Recipe = { template: true, patches: [{ file: 'a', set: { b: 'c' } }] }
  const uses = [
    ['vars', 'host'],
    ['pod', 'labels'],
  ]
  const key = renderKey(recipe, uses, context)
  t.match(key, /^[0-9a-f]{64}$/)
  t.equal(
    renderKey({ patches: [{ set: { b: 'c' }, file: 'a' }], template: true }, uses, structuredClone(context)),
    key,
    'the same in another order',
  )
  t.equal(renderKey(recipe, uses, { ...context, vars: { ...vars, port: '1' }, commit: 'd'.repeat(40) }), key, 'a value that was not read')
  const others: [string, string][] = [
    ['a value that was read', renderKey(recipe, uses, { ...context, vars: { ...vars, host: 'i' } })],
    ['a value below', renderKey(recipe, uses, { ...context, pod: { ...context.pod, labels: { site: 'south' } } })],
    ['no such value', renderKey(recipe, uses, { ...context, vars: { port: '8088' } })],
    ['without the template', renderKey({ ...recipe, template: false }, uses, context)],
    ['other patches', renderKey({ ...recipe, patches: [] }, uses, context)],
    ['other uses', renderKey(recipe, uses.slice(1), context)],
    ['an inherited name', renderKey(recipe, [['vars', 'toString']], context)],
    ['below a value', renderKey(recipe, [['vars', 'host', 'length']], context)],
    ['below nothing', renderKey(recipe, [['vars', 'nope', 'length']], context)],
  ]
  t.equal(new Set([key, ...others.map(([, other]) => other)]).size, others.length + 1)
  const ofLength = (host: string) => renderKey(recipe, [['vars', 'host', 'length']], { ...context, vars: { host } })
  t.equal(ofLength('a'), ofLength('longer'), 'a text has no members')
  t.equal(renderKey(recipe, [['vars', 'toString']], context), renderKey(recipe, [['vars', 'toString']], { ...context, vars: {} }))
})
