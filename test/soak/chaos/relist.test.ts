/** The open watches of an API server, and the replicas that have listed since. */
import t from 'tap'
import { notListed, parseWatches, type ReplicaFigures } from './relist.ts'

void t.test('only watches are counted, by type and whatever their scope', (t) => {
  const text = [
    '# TYPE apiserver_longrunning_requests gauge',
    'apiserver_longrunning_requests{component="apiserver",group="",resource="pods",scope="cluster",subresource="",verb="WATCH",version="v1"} 3',
    'apiserver_longrunning_requests{component="apiserver",group="",resource="pods",scope="namespace",subresource="",verb="WATCH",version="v1"} 12',
    'apiserver_longrunning_requests{component="apiserver",group="",resource="pods",scope="resource",subresource="exec",verb="CONNECT",version="v1"} 1',
    'apiserver_longrunning_requests{component="apiserver",group="",resource="secrets",scope="cluster",subresource="",verb="WATCH",version="v1"} 2',
    '',
  ].join('\n')
  t.strictSame(parseWatches(text), { gatewaysyncs: 0, pods: 15, syncreports: 0 })
  t.end()
})

void t.test('a replica that has not listed a type is named, whatever the others did', (t) => {
  const listed = (replica: string, gatewaysyncs: number, pods: number, syncreports: number): ReplicaFigures => {
    const figures = (lists: number) => ({ differences: 0, lists, resumed: 0 })
    return { replica, figures: { gatewaysyncs: figures(gatewaysyncs), pods: figures(pods), syncreports: figures(syncreports) } }
  }
  const before = [listed('one', 1, 1, 1), listed('two', 4, 4, 4)]
  t.strictSame(notListed(before, [listed('one', 5, 5, 5), listed('two', 5, 4, 5)]), ['two has not listed its pods'])
  t.strictSame(notListed(before, [listed('one', 2, 2, 2), listed('two', 5, 5, 6)]), [])
  t.end()
})
