/** Which watches an API server says are open. */
import t from 'tap'
import { parseWatches } from './relist.ts'

void t.test('watches are counted by type, whatever their scope, and nothing else', (t) => {
  const text = [
    '# TYPE apiserver_longrunning_requests gauge',
    'apiserver_longrunning_requests{component="apiserver",group="",resource="pods",scope="cluster",subresource="",verb="WATCH",version="v1"} 3',
    'apiserver_longrunning_requests{component="apiserver",group="",resource="pods",scope="namespace",subresource="",verb="WATCH",version="v1"} 12',
    'apiserver_longrunning_requests{component="apiserver",group="",resource="pods",scope="resource",subresource="exec",verb="CONNECT",version="v1"} 1',
    'apiserver_longrunning_requests{component="apiserver",group="",resource="secrets",scope="cluster",subresource="",verb="WATCH",version="v1"} 2',
    '',
  ].join('\n')
  t.same(parseWatches(text), { gatewaysyncs: 0, pods: 15, syncreports: 0 })
  t.end()
})
