/**
 * Captures of the controller on a real repository, with simulated uploads of gateways.
 */
import path from 'node:path'
import type { Test } from 'tap'
import { digestOf } from '../../runtime/capture/submit/commit.ts'
import { type Clock, systemClock } from '../../runtime/platform/clock.ts'
import { Captures } from '../../runtime/controller/captures/captures.ts'
import type { CaptureAnswer, CaptureOffer } from '../../runtime/content/protocol/protocol.ts'
import { openIsolatedValidator } from '../../runtime/validation/worker/isolated-validation.ts'
import { openAttemptLog } from '../../runtime/validation/worker/attempt-log.ts'
import { type CaptureEntry, type CaptureStatus } from '../../runtime/api/schema/capture-spec.ts'
import type { CommitHash } from '../../runtime/api/values.ts'
import { silentLog } from '../../runtime/platform/log/log.ts'
import { createSyncMirrors } from '../../runtime/reconcile/source/mirrors-of-syncs.ts'
import { Store } from '../../runtime/reconcile/store/store.ts'
import { createMirrors } from '../../runtime/git/mirrors.ts'
import { createHostApis } from '../../runtime/git/api/host-api.ts'
import { openNetwork } from '../../runtime/git/remote/network.ts'
import { createRemotes, type RemoteOf } from '../../runtime/git/remotes.ts'
import { repositoryOf } from './collection-repository.ts'
import { root, validTree } from './collection-tree.ts'
import { pod } from './fleet-facts.ts'
import { temporaryFolder } from './repository.ts'
import { until } from './world.ts'

export const sync = { namespace: 'plant-a', name: 'plant' }
export const key = 'plant-a/plant'
const project = JSON.stringify({ title: 'Line', description: '', parent: '', enabled: true, inheritable: false })

/** `before` delays each capture before it reads the repository. */
export function setUpCaptures(t: Test, clock: Clock = systemClock, before: () => Promise<void> = async () => {}) {
  const view = 'gw/projects/line/com.inductiveautomation.perspective/views/main'
  const repository = repositoryOf(t, {
    ...validTree(),
    'gw/projects/line/a.txt': 'one',
    'gw/projects/line/project.json': project,
    [`${view}/view.json`]: '{}',
    [`${view}/resource.json`]: '{"scope":"G","version":1,"restricted":false,"overridable":true,"files":["view.json"],"attributes":{}}',
  })
  const commit = repository.git('rev-parse', 'HEAD').toString('utf8').trim() as CommitHash
  const folder = temporaryFolder(t, 'captures')
  const store = new Store(() => {})
  const stop = new AbortController()
  const readSecret = async () => ({ version: '1', data: new Map([['token', Buffer.from('t')]]) })
  const way = { allowLocal: true, allowedHosts: [], readSecret, network: openNetwork }
  const remotes = createRemotes({ ...way, clock: systemClock, signal: stop.signal })
  const remoteOf: RemoteOf = async (namespace, git, signal) => {
    await before()
    return await remotes(namespace, git, signal)
  }
  const gitMirrors = createMirrors({ folder: path.join(folder, 'mirrors'), clock: systemClock, log: silentLog })
  const validator = openIsolatedValidator({
    clock: systemClock,
    log: silentLog,
    attemptLog: openAttemptLog(path.join(folder, 'checking.json')),
  })
  const states: CaptureEntry['state'][] = []
  const hostApi = createHostApis({ ...way, remoteOf })
  const mirrors = createSyncMirrors(gitMirrors, remoteOf)
  const captured = (state: CaptureEntry['state']): void => void states.push(state)
  const captures = new Captures({ store, mirrors, remoteOf, validator, hostApi, captured, clock, log: silentLog })
  const changed: string[] = []
  let leading: Promise<void> | undefined
  t.teardown(async () => {
    stop.abort()
    await leading
    await validator.close()
    await gitMirrors.close()
  })
  const spec = {
    git: { repo: repository.folder, ref: 'main' },
    sync: {
      profiles: { default: { mappings: [{ source: 'gw/projects', destination: 'projects' }], collections: { root, mode: 'auto' } } },
    },
    validation: { policy: 'Off' },
    capture: { auth: { token: { secretRef: { name: 'push', key: 'token' } } } },
  }
  let version = 0
  const ask = (annotations: Record<string, string>, more: object = {}, capture: CaptureStatus = {}): boolean =>
    store.upsertSync({
      ...sync,
      uid: 'u',
      resourceVersion: String((version += 1)),
      generation: 1,
      annotations,
      spec: { ...spec, ...more },
      status: { published: { commit, ref: 'main', at: '2026-03-01T12:00:00Z' }, capture },
    })
  for (const name of ['gw-0', 'gw-1']) store.upsertPod({ ...pod(name, 'plant'), serviceAccount: 'gateway' })
  const offer = (request: string, contents: Readonly<Record<string, string>>): CaptureOffer => {
    const edits = Object.entries(contents).map(([source, text]) => ({ source, exec: false, content: Buffer.from(text) }))
    const changes = edits.map(({ source, content }) => ({
      source,
      path: source.replace(`${root}/`, 'config/resources/').replace('gw/', ''),
      op: 'changed' as const,
      exec: false,
      content: content.toString('base64'),
    }))
    const told = { commit, profile: 'default', mode: 'dev', request, skipped: [], skippedFiles: 0 }
    return { ...told, digest: digestOf(edits), files: edits.length, changes }
  }
  /** Like an agent, polls until the capture is complete. */
  const handOn = async (name: string, { changes, ...short }: CaptureOffer): Promise<CaptureEntry | undefined> => {
    const tell = (whole: CaptureOffer): CaptureAnswer['answer'] | undefined => captures.offered(sync, name, whole)?.answer
    await until(
      async () => {
        const first = tell(short)
        return (first === 'send' ? tell({ ...short, changes }) : first) === 'done' ? true : undefined
      },
      'the offer is over',
      120_000,
    )
    return captures.known(key).find((entry) => entry.pod === name)
  }
  return {
    repository,
    commit,
    captures,
    store,
    states,
    changed,
    ask,
    offer,
    handOn,
    sync,
    git: (...args: string[]): string =>
      repository
        .git(...args)
        .toString('utf8')
        .trim(),
    lead(): void {
      leading = captures.lead((name) => void changed.push(name), stop.signal)
    },
  }
}
