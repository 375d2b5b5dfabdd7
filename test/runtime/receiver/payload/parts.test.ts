import t from 'tap'
import { callId } from '../../../../runtime/receiver/payload/parts.ts'

void t.test('the id of a call is read from the header of its host, else from a CloudEvent', async (t) => {
  const rows: [Record<string, string>, string | undefined][] = [
    ...[
      'x-github-delivery',
      'x-gitea-delivery',
      'x-forgejo-delivery',
      'x-gogs-delivery',
      'idempotency-key',
      'x-request-uuid',
      'webhook-id',
    ].map((header): [Record<string, string>, string] => [{ [header]: 'one' }, 'one']),
    [{ 'x-gitlab-event-uuid': 'one' }, undefined],
    [{ 'x-github-delivery': '', 'webhook-id': 'two' }, 'two'],
    [{ 'webhook-id': 'x'.repeat(200) }, 'x'.repeat(128)],
    [{ 'webhook-id': 'two', 'ce-source': 'ci', 'ce-id': '1' }, 'two'],
    [{ 'ce-source': 'ci', 'ce-id': '1' }, '["ci","1"]'],
    [{ 'ce-source': 'ci' }, undefined],
    [{ 'ce-id': '1' }, undefined],
    [{}, undefined],
  ]
  for (const [headers, expected] of rows) t.equal(callId(headers), expected, JSON.stringify(headers))
})
