import t from 'tap'
import { createBatchWindow } from '../../../../runtime/content/server/shared-answer.ts'

void t.test('several pods that request the same within five seconds are a batch, whatever another namespace requests', (t) => {
  let nowMs = 0
  const { join } = createBatchWindow({ monotonicMs: () => nowMs })
  t.equal(join('plant', 'plant/line abc', 'gateway-0'), false)
  for (let index = 0; index < 2_000; index += 1) join('loud', `loud/line ${index}`, 'gateway-0')
  t.equal(join('plant', 'plant/line abc', 'gateway-1'), true)
  nowMs = 5_000
  t.equal(join('plant', 'plant/line abc', 'gateway-1'), false)
  t.end()
})
