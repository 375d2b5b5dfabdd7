/**
 * `cluster-sync trigger` as a process against a real receiver.
 */
import path from 'node:path'
import t from 'tap'
import { requestAnnotations } from '../../../runtime/api/names.ts'
import { matchObject } from '../../support/assertions.ts'
import { serveReceiver } from '../../support/receiver-app.ts'
import { runCli } from '../../support/run-cli.ts'

void t.test('each event requests its ref with either kind of key, and exit codes distinguish the answers', async (t) => {
  const { served, requests } = await serveReceiver(t, { keys: { hmac: ['first', 'second'], tokens: ['token'] } })
  const folder = t.testdir({ hmac: 'second\n', token: 'token\n', wrong: 'wrong', empty: '\n' })
  const file = (name: string): string => path.join(folder, name)
  const url = `${served.url}/webhook/default/plant`
  const hmac = ['--hmac-secret-file', file('hmac')]

  const asked: [string, string, string, string][] = [
    ['release', 'v1', 'refs/tags/v1', 'release'],
    ['notification', 'v2', 'v2', 'notification'],
    ['promotion', 'refs/tags/v3', 'refs/tags/v3', 'promotion'],
    ['promotion', 'refs/heads/stage', 'refs/heads/stage', 'promotion'],
    ['generic', 'v4', 'v4', 'generic'],
    ['github-push', 'main', 'main', 'push'],
  ]
  await Promise.all(
    asked.map(async ([event, given, ref, source]) => {
      const { code, stdout, stderr } = await runCli(['trigger', url, '--event', event, '--ref', given, ...hmac])
      t.equal(stderr, '', event)
      t.equal(code, 0, event)
      const answer = JSON.parse(stdout) as Record<string, unknown>
      t.strictSame([answer['accepted'], answer['ref'], answer['source']], [true, ref, source], event)
    }),
  )
  t.strictSame(new Set(requests.map((annotations) => annotations[requestAnnotations.ref])), new Set(asked.map(([, , ref]) => ref)))

  const plain = await runCli(['trigger', url, '--token-file', file('token')])
  matchObject(t, JSON.parse(plain.stdout), { accepted: true, ref: 'main', source: 'generic' })

  const rows: [string, string[], number, RegExp][] = [
    ['a wrong key', [url, '--token-file', file('wrong')], 1, /answered 401 to the generic call/],
    ['no resource', [`${served.url}/webhook/default/none`, ...hmac], 1, /answered 404/],
    ['nobody there', ['http://127.0.0.1:1/webhook/default/plant'], 1, /127\.0\.0\.1:1 cannot be called/],
    ['no URL', ['plant'], 2, /must be an http\(s\) URL/],
    ['a password in the URL', ['http://u:hidden@127.0.0.1/'], 2, /must not contain a user or password/],
    ['no ref', [url, '--ref', 'a..b'], 2, /must be the name of a branch/],
    ['no event', [url, '--event', 'x'], 2, /release, notification, promotion, generic, github-push/],
    ['an empty key', [url, '--token-file', file('empty')], 2, /--token-file: .*empty is empty/],
    ['no key file', [url, '--hmac-secret-file', file('none')], 2, /--hmac-secret-file: .*none cannot be read/],
  ]
  await Promise.all(
    rows.map(async ([name, args, code, message]) => {
      const result = await runCli(['trigger', ...args])
      matchObject(t, result, { code, stderr: message }, name)
      t.notMatch(result.stderr, /\n {4}at /, name)
    }),
  )
  t.equal(requests.length, asked.length + 1)
})
