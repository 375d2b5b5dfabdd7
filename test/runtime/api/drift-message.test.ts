import t from 'tap'
import { driftMessage } from '../../../runtime/api/drift-message.ts'

void t.test('local changes are counted, and the first files named', async (t) => {
  t.equal(driftMessage({ count: 1, paths: ['a'] }), '1 managed file was changed or deleted locally: a')
  t.equal(driftMessage({ count: 3, paths: ['a', 'b', 'c'] }), '3 managed files were changed or deleted locally: a, b, c')
  t.equal(driftMessage({ count: 4, paths: ['a', 'b', 'c', 'd'] }), '4 managed files were changed or deleted locally: a, b, c and 1 more')
  t.equal(driftMessage({ count: 30, paths: ['a', 'b'] }, 5), '30 managed files were changed or deleted locally: a, b and 28 more')
})
