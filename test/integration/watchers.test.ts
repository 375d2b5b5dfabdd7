/**
 * The versions that a list-watch receives from a real API server equal those that etcd wrote.
 */
import t from 'tap'
import { requires } from '../support/requires.ts'
import { temporaryFolder } from '../support/repository.ts'
import { openTcpProxy } from '../support/tcp-proxy.ts'
import { configMapType, openWorld, until } from '../support/world.ts'
import { startWatchers } from '../soak/chaos/watchers.ts'

void t.test(
  'each version arrives once over interrupted connections, and the history in etcd is the same',
  { timeout: 600_000 },
  async (t) => {
    if (!requires(t, 'git')) return
    const { kube, namespace, plane, signal } = await openWorld(t)
    const where = await namespace('witness')
    const configMap = (name: string) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { namespace: where, name } })
    const tcpProxy = await openTcpProxy(t, () => [Number(new URL(plane.url).port)])
    await kube.create(configMapType, configMap('before'), signal)
    const kubeconfig = tcpProxy.through(plane.adminKubeconfig, temporaryFolder(t, 'witness'))
    const watchers = await startWatchers(kubeconfig, plane.etcdUrl, { types: [configMapType], namespace: where })
    t.teardown(() => watchers.stop())
    const nothingMissed = async (): Promise<true | undefined> => ((await watchers.missed()).length === 0 ? true : undefined)
    await until(nothingMissed, 'the list is reported')
    t.strictSame(watchers.watched(), { lists: 1, versions: 0 })

    await kube.create(configMapType, configMap('after'), signal)
    await until(nothingMissed, 'a new object is reported')
    await tcpProxy.close()
    for (const version of ['1', '2', '3']) {
      const patch = { metadata: { annotations: { version } } }
      await kube.mergePatch(configMapType, { namespace: where, name: 'before' }, patch, {}, signal)
    }
    await kube.delete(configMapType, { namespace: where, name: 'after' }, signal)
    t.match((await watchers.missed()).join('\n'), /^configmaps: \S+\/before in \d+ was never told$/m, 'what is not told is owed')
    await tcpProxy.open()
    await until(nothingMissed, 'everything is reported')
    t.strictSame(watchers.watched(), { lists: 1, versions: 5 }, 'the watch went on from where it was, and told each version on the way')
  },
)
