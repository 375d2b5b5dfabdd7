/**
 * Changes made on a gateway are captured as a commit: a repair in the Designer at night, and the commit in the morning.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import { containsText, matchObject } from '../../../support/assertions.ts'
import { makeRepository, temporaryFolder } from '../../../support/repository.ts'
import { runCli } from '../../../support/run-cli.ts'
import { shown } from '../../../support/shown-output.ts'
import { setUpRun, writeGatewaySync } from '../../../support/standalone-run.ts'
import { until } from '../../../support/world.ts'

const manifest = (actor: string, at: string, files = ['view.json']): string =>
  JSON.stringify({
    scope: 'G',
    version: 1,
    restricted: false,
    overridable: true,
    files,
    attributes: { lastModification: { actor, timestamp: at }, lastModificationSignature: at.replaceAll(/\D/g, '').padEnd(64, '0') },
  })

const view = 'projects/line/com.inductiveautomation.perspective/views/main'
const project = JSON.stringify({ title: 'Line', description: '', parent: '', enabled: true, inheritable: false })

/** A synced gateway, and the arguments that name its folder. */
async function syncedGateway(test: Parameters<typeof setUpRun>[0], name: string) {
  const { folder, dataDir, repository } = setUpRun(test, name)
  const commit = repository.commit({
    'projects/line/project.json': project,
    [`${view}/resource.json`]: manifest('day', '2026-01-01T06:00:00Z'),
    [`${view}/view.json`]: '{\n  "root": {"props": {"text": "Start"}},\n  "password": "one"\n}\n',
    'projects/line/notes.txt': 'first\nsecond\n',
  })
  const file = writeGatewaySync(folder, { repo: repository.folder, name: 'press' })
  const where = ['-f', file, '--data', dataDir]
  const sync = async (): Promise<void> => {
    const { code, stderr } = await runCli(['run', ...where, '--state', path.join(folder, 'state'), '--once'])
    if (code !== 0) throw new Error(stderr)
  }
  await sync()
  return { folder, dataDir, repository, commit, where, sync }
}

function repairAtNight(dataDir: string): void {
  writeFileSync(path.join(dataDir, view, 'view.json'), '{\n  "root": {"props": {"text": "Run"}},\n  "password": "two"\n}\n')
  writeFileSync(path.join(dataDir, view, 'resource.json'), manifest('maria', '2026-01-02T02:00:00Z'))
  const added = path.join(dataDir, 'projects/line/com.inductiveautomation.perspective/views/pump')
  mkdirSync(added)
  writeFileSync(path.join(added, 'view.json'), '{"root": {}}')
  writeFileSync(path.join(added, 'resource.json'), manifest('maria', '2026-01-02T02:10:00Z'))
  rmSync(path.join(dataDir, 'projects/line/notes.txt'))
}

void t.test('drift lists local changes without secrets and without metadata that the gateway writes', async (t) => {
  const { dataDir, where, commit } = await syncedGateway(t, 'drift')
  matchObject(t, await runCli(['capture', ...where, '--dry-run']), { code: 1, stdout: 'nothing to capture\n' })
  writeFileSync(path.join(dataDir, view, 'resource.json'), manifest('maria', '2026-01-02T02:00:00Z'))
  const saved = await runCli(['drift', ...where])
  t.equal(saved.code, 0, 'a resource that was only saved again is no change')
  containsText(t, saved.stdout, '1 more differs only in what the gateway writes itself')

  repairAtNight(dataDir)
  const { code, stdout } = await runCli(['drift', ...where])
  t.equal(code, 1)
  shown(t, 'how-to/capture.md', 'drift', stdout)
  const asJson = JSON.parse((await runCli(['drift', ...where, '--format', 'json'])).stdout) as { commit: string; changes: unknown[] }
  t.equal(asJson.commit, commit)
  t.equal(asJson.changes.length, 4)
})

void t.test('missing or invalid capture arguments are rejected with the reason', async (t) => {
  const { folder, dataDir, repository } = setUpRun(t, 'capture-usage')
  const where = ['-f', writeGatewaySync(folder, { repo: repository.folder }), '--data', dataDir]
  containsText(t, (await runCli(['capture', ...where])).stderr, 'specify what to do with the commit')
  containsText(t, (await runCli(['capture', ...where, '--push', '--author', 'maria'])).stderr, '--author must be of the form')
  matchObject(t, await runCli(['drift', ...where]), { code: 2, stderr: /was never synced/ })
  matchObject(t, await runCli(['drift', ...where, '--state', folder]), { code: 2, stderr: /omit --file and --data/ })
})

void t.test('capture pushes one commit on its own branch, and after its merge a sync writes nothing', async (t) => {
  const { folder, dataDir, repository, commit, where, sync } = await syncedGateway(t, 'capture')
  repairAtNight(dataDir)
  writeFileSync(path.join(dataDir, 'projects/stray.txt'), 'nobody knows')
  repository.git('branch', 'theirs', commit)
  matchObject(t, await runCli(['capture', ...where, '--push', '--branch', 'theirs']), { code: 2, stderr: /PushRefused/ })
  t.equal(repository.git('rev-parse', 'theirs').toString('utf8').trim(), commit, 'a branch that is there is never moved')
  const { code, stdout, stderr } = await runCli(['capture', ...where, '--push'])
  t.equal(code, 0, stderr)
  containsText(t, stdout, 'skipped: projects/stray.txt is new')
  const branch = /pushed as the new branch (\S+)/.exec(stdout)?.[1] ?? ''
  shown(t, 'how-to/capture.md', 'capture', stdout)
  t.match(branch, /^captured\/press-[0-9a-f]{8}$/)
  const show = (format: string): string => repository.git('log', '-1', `--format=${format}`, branch).toString('utf8').trim()
  t.equal(show('%P'), commit, 'its parent is the published commit')
  t.equal(show('%an <%ae>'), 'maria <maria@localhost.invalid>', 'whoever saved last in the Designer is its author')
  t.match(show('%B'), new RegExp(`Captured-On: ${commit}`))
  const changed = repository.git('diff', '--name-status', commit, branch).toString('utf8').trim().split('\n').toSorted()
  t.strictSame(changed, [
    `A\t${view.replace('main', 'pump')}/resource.json`,
    `A\t${view.replace('main', 'pump')}/view.json`,
    'D\tprojects/line/notes.txt',
    `M\t${view}/resource.json`,
    `M\t${view}/view.json`,
  ])

  // Within the same second a second push would create the identical commit, which the branch already contains.
  const pushedAtMs = Number(show('%ct')) * 1000
  await until(() => (Date.now() >= pushedAtMs + 1000 ? true : undefined), 'the second of the first push is over')
  const again = await runCli(['capture', ...where, '--push'])
  t.equal(again.code, 2, 'the same capture has the same branch')
  t.match(again.stderr, /already has a branch of this name/)
  t.match(again.stderr, /PushRefused/)

  const stamps = (): unknown[] =>
    [`${view}/view.json`, `${view}/resource.json`, `${view.replace('main', 'pump')}/view.json`].map((file) => {
      const { ino, mtimeMs, ctimeMs } = statSync(path.join(dataDir, file))
      return { file, ino, mtimeMs, ctimeMs }
    })
  const before = stamps()
  repository.git('merge', '-q', '--ff-only', branch)
  await sync()
  t.equal(readFileSync(path.join(dataDir, 'projects/stray.txt'), 'utf8'), 'nobody knows')
  const after = await runCli(['drift', ...where])
  containsText(t, after.stdout, '0 files changed, 1 added, 0 removed')
  t.strictSame(stamps(), before, 'no file of the repair was written again')
  t.equal(existsSync(path.join(folder, 'data/projects/line/notes.txt')), false)
})

void t.test('a patch and a bundle carry the commit without a network', async (t) => {
  const { folder, dataDir, repository, where } = await syncedGateway(t, 'capture-output')
  repairAtNight(dataDir)
  const [patch, bundle] = [path.join(folder, 'fix.patch'), path.join(folder, 'fix.bundle')]
  writeFileSync(path.join(dataDir, 'projects/stray.txt'), 'nobody knew')
  const own = ['--include', 'projects/*.txt', '--author', 'Max Muster <max@plant.example>', '--message', 'Repair the pump']
  for (const output of [patch, bundle]) {
    const { code, stdout } = await runCli(['capture', ...where, ...own, '--output', output, '--branch', 'fix'])
    t.equal(code, 0)
    containsText(t, stdout, 'added projects/stray.txt')
  }
  const clone = makeRepository(path.join(temporaryFolder(t, 'capture-clone'), 'clone'))
  clone.git('pull', '-q', repository.folder, 'main')
  clone.git('fetch', '-q', bundle, 'fix:bundled')
  clone.git('am', '-q', patch)
  t.equal(clone.git('rev-parse', 'HEAD^{tree}').toString(), clone.git('rev-parse', 'bundled^{tree}').toString())
  t.equal(JSON.parse(readFileSync(path.join(clone.folder, view, 'view.json'), 'utf8')).password, 'two')
  t.equal(readFileSync(path.join(clone.folder, 'projects/stray.txt'), 'utf8'), 'nobody knew')
  containsText(t, clone.git('log', '-1', '--format=%an <%ae> %s').toString('utf8'), 'Max Muster <max@plant.example> Repair the pump')

  writeFileSync(path.join(dataDir, 'projects/line/project.json'), '{"title": "Line",')
  const refused = await runCli(['capture', ...where, '--push'])
  matchObject(t, refused, { code: 2, stderr: /not captured: projects\/line\/project.json/ }, 'what the gate would refuse is not handed on')
  t.equal(repository.git('branch', '--list', 'captured/*').toString(), '')
})
