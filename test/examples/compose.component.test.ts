/**
 * The service of examples/compose works within the limits of its file: a run needs no writable paths besides its volumes and its `tmpfs`,
 * no capabilities and no new privileges.
 */
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import t from 'tap'
import * as v from 'valibot'
import { parse } from 'yaml'
import { matchObject } from '../support/assertions.ts'
import { absent, requires } from '../support/requires.ts'
import { makeRepository, temporaryFolder } from '../support/repository.ts'
import { runCli } from '../support/run-cli.ts'
import { writeGatewaySync } from '../support/standalone-run.ts'

const root = path.resolve(import.meta.dirname, '../..')
const composed = v.object({
  services: v.object({
    'cluster-sync': v.object({
      volumes: v.array(v.string()),
      read_only: v.literal(true),
      tmpfs: v.tuple([v.literal('/tmp')]),
      cap_drop: v.tuple([v.literal('ALL')]),
      security_opt: v.tuple([v.literal('no-new-privileges:true')]),
    }),
  }),
})

void t.test('a run works with only its volumes and tmpfs writable, without capabilities and new privileges', async (t) => {
  if (!requires(t, 'git', 'unshare', 'mount', 'setpriv')) return
  if (process.geteuid?.() !== 0) {
    absent(t, 'only root may make the file system read-only')
    return
  }
  const { services } = v.parse(composed, parse(readFileSync(path.join(root, 'examples/compose/compose.yaml'), 'utf8')))
  const writable = services['cluster-sync'].volumes.filter((mount) => !mount.endsWith(':ro')).map((mount) => mount.split(':')[1])
  t.strictSame(writable, ['/usr/local/bin/ignition/data', '/var/lib/cluster-sync'], 'these two stand for the folders below')

  const folder = temporaryFolder(t, 'compose')
  const repository = makeRepository(path.join(folder, 'plant'))
  repository.commit({ 'projects/line/project.json': '{}\n' })
  const file = writeGatewaySync(folder, { repo: repository.folder })
  // The last one represents /tmp, which may contain this clone.
  const places = ['data', 'state', 'tmp'].map((name) => path.join(folder, name))
  const [data = '', state = '', tmp = ''] = places
  for (const place of places) mkdirSync(place)
  const lines = [
    `for place in ${places.join(' ')}; do mount --bind "$place" "$place"; done`,
    `while read -r _ place _; do case $place in ${places.join('|')}|/proc*) ;; *) mount -o remount,bind,ro "$place" || : ;; esac; done </proc/self/mounts`,
    `if touch ${folder}/elsewhere || touch ${root}/elsewhere; then echo "another folder can be written" >&2; exit 99; fi`,
    // tap's preloads write to their own folder.
    'exec setpriv --no-new-privs --inh-caps=-all --bounding-set=-all -- env NODE_OPTIONS= "$@"',
  ]
  const under = ['unshare', '--mount', 'sh', '-ec', lines.join('\n'), 'sh']
  const env = { STATE_DIRECTORY: state, TMPDIR: tmp }
  const run = await runCli(['run', '-f', file, '--data', data, '--once'], { under, env })
  matchObject(t, run, { code: 0 }, run.stdout + run.stderr)
  t.ok(existsSync(path.join(data, 'projects/line/project.json')))
})
