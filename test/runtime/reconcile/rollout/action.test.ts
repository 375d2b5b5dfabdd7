import t from 'tap'
import { rolloutAnnotations } from '../../../../runtime/api/names.ts'
import { actionText, parseAction } from '../../../../runtime/reconcile/rollout/action.ts'

const annotate = (action: string, more: { by?: string; at?: string } = {}) => ({
  [rolloutAnnotations.action]: action,
  ...(more.by === undefined ? {} : { [rolloutAnnotations.by]: more.by }),
  ...(more.at === undefined ? {} : { [rolloutAnnotations.at]: more.at }),
})

void t.test('an action names its verb, its rollout, perhaps a stage, and who asked', async (t) => {
  const id = 'i'.repeat(64)
  const stage = 's'.repeat(63)
  const rows: [string, { verb: string; id: string; stage: string | undefined }][] = [
    ['approve r1 test', { verb: 'approve', id: 'r1', stage: 'test' }],
    ['abort r1', { verb: 'abort', id: 'r1', stage: undefined }],
    [`resume ${id}`, { verb: 'resume', id, stage: undefined }],
    [`approve ${id} ${stage}`, { verb: 'approve', id, stage }],
  ]
  for (const [text, expected] of rows) {
    const { digest, ...action } = parseAction(annotate(text)) ?? { digest: '' }
    t.strictSame(action, { ...expected, by: 'annotation' }, text)
    t.match(digest, /^[0-9a-f]{32}$/)
    t.equal(actionText(expected.verb as 'abort', expected.id, expected.stage), text)
  }
  t.equal(parseAction(annotate('abort r1', { by: 'b'.repeat(200) }))?.by, 'b'.repeat(128))
})

void t.test('other texts are no action', async (t) => {
  t.equal(parseAction({}), undefined)
  const [long, longStage] = [`abort ${'i'.repeat(65)}`, `approve r1 ${'s'.repeat(64)}`]
  for (const text of ['', 'abort', 'abort ', 'stop r1', 'xabort r1', 'abort r1 test more', 'abort r1 ', 'abort  r1', long, longStage])
    t.equal(parseAction(annotate(text)), undefined, text)
})

void t.test('a digest belongs to one text, author and time', async (t) => {
  const variants = [annotate('abort r1'), annotate('abort r2'), annotate('abort r1', { by: 'Ann' }), annotate('abort r1', { at: 'now' })]
  const digests = variants.map((annotations) => parseAction(annotations)?.digest)
  t.equal(new Set(digests).size, variants.length)
  t.strictSame(
    variants.map((annotations) => parseAction({ ...annotations, other: 'x' })?.digest),
    digests,
    'and changes with nothing else',
  )
})
