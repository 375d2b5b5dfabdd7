/**
 * What `lint --fix` fixes and what it leaves unchanged, and what `explain` prints about a rule.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { containsText, matchObject } from '../../../support/assertions.ts'
import { repositoryOf, withFiles } from '../../../support/collection-repository.ts'
import { config, modeJson, resource, root } from '../../../support/collection-tree.ts'
import { requires } from '../../../support/requires.ts'
import { runCli } from '../../../support/run-cli.ts'

const alarms = 'core/ignition/email-profile/alarms'

void t.test('lint --fix fixes what has only one fix, and a second run has nothing to fix', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = repositoryOf(
    t,
    withFiles(resource(alarms, config({ retries: 3 })), { [`${root}/dev/config-mode.json`]: modeJson('Dev', 'core') }),
  )
  const file = (name: string): string => path.join(folder, root, name)
  rmSync(file('dev/config-mode.json'))
  const content = readFileSync(file(`${alarms}/config.json`), 'utf8')
  writeFileSync(file(`${alarms}/config.json`), `\uFEFF${content}`)
  const before = await runCli(['lint', folder])
  t.equal(before.code, 1)
  t.match(before.stdout, /missing-config-mode[^]*byte-order-mark/)
  const fixed = await runCli(['lint', folder, '--fix'])
  matchObject(t, fixed, { code: 0, stderr: '' }, fixed.stdout)
  containsText(t, fixed.stdout, `${root}/dev: fixed (missing-config-mode)`)
  containsText(t, fixed.stdout, `${root}/${alarms}/config.json: fixed (byte-order-mark)`)
  t.equal(readFileSync(file(`${alarms}/config.json`), 'utf8'), content)
  matchObject(t, JSON.parse(readFileSync(file('dev/config-mode.json'), 'utf8')), { title: 'dev', parent: 'core', enabled: true })

  writeFileSync(file(`${alarms}/config.json`), content.replace('3', '4'))
  t.match((await runCli(['lint', folder, '--fix'])).stdout, /email-profile\/alarms.*: fixed \(stale-signature\)/)
  t.notMatch((await runCli(['lint', folder, '--fix'])).stdout, /: fixed /)
  writeFileSync(file(`${alarms}/config.json`), '{\r\n"retries":5}')
  const withCrlf = (await runCli(['lint', folder, '--fix'])).stdout
  t.match(withCrlf, /alarms.*: not fixed: cannot be signed: config\.json has Windows line endings.* \(stale-signature\)\n/)
  t.notMatch(withCrlf, /: fixed /, 'git may store CRLF as LF')
  matchObject(t, await runCli(['lint', folder, '--fix', '--ref', 'main']), { code: 2, stderr: /omit --ref/ })
})

void t.test('lint --fix removes a missing thumbnail from the file list, but no other missing file', async (t) => {
  if (!requires(t, 'git')) return
  const listed = (name: string): Record<string, string> =>
    resource(`core/ignition/schedule/${name}`, { ...config({ name }), 'thumbnail.png': 'x' })
  const { folder } = repositoryOf(t, withFiles(listed('day'), listed('night')))
  const file = (name: string): string => path.join(folder, root, 'core/ignition/schedule', name)
  for (const name of ['day/thumbnail.png', 'night/config.json']) rmSync(file(name))
  await runCli(['lint', folder, '--fix'])
  const filesOf = (name: string): unknown => JSON.parse(readFileSync(file(`${name}/resource.json`), 'utf8')).files
  t.strictSame(filesOf('day'), ['config.json'])
  t.strictSame(filesOf('night'), ['config.json', 'thumbnail.png'])
  t.match((await runCli(['lint', folder])).stdout, /^(?!.*schedule\/day)[^]*schedule\/night[^]*1 error, 0 warnings/)
})

void t.test('lint --fix adds missing attributes and changes nothing else', async (t) => {
  if (!requires(t, 'git')) return
  const manifest = { scope: 'A', version: 1, restricted: false, overridable: true, files: ['config.json'] }
  const folder = `${root}/core/ignition/schedule/day`
  const repository = repositoryOf(
    t,
    withFiles({ [`${folder}/config.json`]: '{}', [`${folder}/resource.json`]: `${JSON.stringify(manifest, undefined, 2)}\n` }),
  )
  const { code, stdout } = await runCli(['lint', repository.folder, '--fix'])
  t.equal(code, 0, stdout)
  containsText(t, stdout, `${folder}/resource.json: fixed (missing-attributes)`)
  const fixed = readFileSync(path.join(repository.folder, folder, 'resource.json'), 'utf8')
  t.equal(fixed, `${JSON.stringify({ ...manifest, attributes: {} }, undefined, 2)}\n`)
})

void t.test('lint --fix never turns machine-local files into a collection', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = repositoryOf(t, withFiles({ [`${root}/local/ignition/uuid`]: 'x' }))
  const { code, stdout } = await runCli(['lint', folder, '--fix'])
  t.equal(code, 1)
  t.notMatch(stdout, /: fixed /)
})

void t.test('lint names the line of a finding', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = repositoryOf(t, withFiles({ [`${root}/dev/config-mode.json`]: modeJson('Dev', 'cor') }))
  const { stdout } = await runCli(['lint', folder])
  containsText(t, stdout, `${root}/dev/config-mode.json:6:13: error: the parent "cor"`)
  t.match(stdout, /\n {7}6 \| {3}"parent": "cor"\n/)
  t.match((await runCli(['lint', folder, '--ref', 'main'])).stdout, /config-mode\.json:6:13: error/, 'also of a commit')
})

void t.test('explain says why a rule matters to a gateway and what to do', async (t) => {
  const { code, stdout } = await runCli(['explain', 'stale-signature'])
  t.equal(code, 0)
  t.match(stdout, /^stale-signature[^]*Impact:     [^]*Fix:        [^]*lint --fix/)
  matchObject(t, JSON.parse((await runCli(['explain', 'unknown-parent', '--format', 'json'])).stdout), {
    rule: 'unknown-parent',
    fixable: false,
  })
  matchObject(t, await runCli(['explain', 'CollectionsInvalid']), {
    code: 2,
    stderr: /is a reason, not a rule: see .*runbook\.md#collectionsinvalid/,
  })
  matchObject(t, await runCli(['explain', 'stale-signatur']), { code: 2, stderr: /did you mean "stale-signature"\?/ })
})
