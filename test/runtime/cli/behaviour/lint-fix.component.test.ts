/**
 * What `lint --fix` puts right and what it leaves alone, and what `explain` says of a rule.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { repositoryOf, withFiles } from '../../../support/collection-repository.ts'
import { config, modeJson, resource, root } from '../../../support/collection-tree.ts'
import { requires } from '../../../support/requires.ts'
import { runCli } from '../../../support/run-cli.ts'

const alarms = 'core/ignition/email-profile/alarms'

void t.test('lint --fix puts right what has one answer, and a second time there is nothing to do', async (t) => {
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
  t.match(fixed, { code: 0, stderr: '' }, fixed.stdout)
  t.match(fixed.stdout, `${root}/dev: put right (missing-config-mode)`)
  t.match(fixed.stdout, `${root}/${alarms}/config.json: put right (byte-order-mark)`)
  t.equal(readFileSync(file(`${alarms}/config.json`), 'utf8'), content)
  t.match(JSON.parse(readFileSync(file('dev/config-mode.json'), 'utf8')), { title: 'dev', parent: 'core', enabled: true })

  writeFileSync(file(`${alarms}/config.json`), content.replace('3', '4'))
  t.match((await runCli(['lint', folder, '--fix'])).stdout, /email-profile\/alarms.*: put right \(stale-signature\)/)
  t.notMatch((await runCli(['lint', folder, '--fix'])).stdout, /put right/)
  t.match(await runCli(['lint', folder, '--fix', '--ref', 'main']), { code: 2, stderr: /leave --ref out/ })
})

void t.test('lint --fix never makes a collection of what belongs to one machine', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = repositoryOf(t, withFiles({ [`${root}/local/ignition/uuid`]: 'x' }))
  const { code, stdout } = await runCli(['lint', folder, '--fix'])
  t.equal(code, 1)
  t.notMatch(stdout, /put right/)
})

void t.test('lint names the line of a fault', async (t) => {
  if (!requires(t, 'git')) return
  const { folder } = repositoryOf(t, withFiles({ [`${root}/dev/config-mode.json`]: modeJson('Dev', 'cor') }))
  const { stdout } = await runCli(['lint', folder])
  t.match(stdout, `${root}/dev/config-mode.json:6:13: error: names the parent "cor"`)
  t.match(stdout, /\n {7}6 \| {3}"parent": "cor"\n/)
  t.match((await runCli(['lint', folder, '--ref', 'main'])).stdout, /config-mode\.json:6:13: error/, 'also of a commit')
})

void t.test('explain says why a gateway cares about a rule', async (t) => {
  const { code, stdout } = await runCli(['explain', 'stale-signature'])
  t.equal(code, 0)
  t.match(stdout, /^stale-signature[^]*Why a gateway cares: [^]*What to do: [^]*lint --fix/)
  t.match(JSON.parse((await runCli(['explain', 'unknown-parent', '--format', 'json'])).stdout), { rule: 'unknown-parent', fixable: false })
  t.match(await runCli(['explain', 'stale-signatur']), { code: 2, stderr: /did you mean "stale-signature"\?/ })
})
