import t from 'tap'
import { type Holder, judgeHolder } from '../../../runtime/sync/lock.ts'

const self: Holder = { pid: 7, startTime: '100', bootId: 'boot-1', pidNamespace: 'pid:[1]', host: 'gw-0', staleAfterMs: 150_000 }

void t.test('a holder is alive, dead or oneself by its process where that can be seen, else by its sign of life', async (t) => {
  const rows: [string, Partial<Holder>, { startTime: string | undefined; silentMs: number }, 'ours' | 'alive' | 'dead'][] = [
    ['this very process', {}, { startTime: '100', silentMs: 0 }, 'ours'],
    ['this very process, long silent', {}, { startTime: '100', silentMs: 1e9 }, 'ours'],
    ['another process that runs', { pid: 8, startTime: '90' }, { startTime: '90', silentMs: 0 }, 'alive'],
    ['another process that runs, long silent', { pid: 8, startTime: '90' }, { startTime: '90', silentMs: 1e9 }, 'alive'],
    ['a process that has ended', { pid: 8, startTime: '90' }, { startTime: undefined, silentMs: 0 }, 'dead'],
    ['a process whose pid belongs to a later one', { pid: 8, startTime: '90' }, { startTime: '95', silentMs: 0 }, 'dead'],
    ['our own pid in an earlier life', { startTime: '90' }, { startTime: '100', silentMs: 0 }, 'dead'],
    ['before the machine started anew', { bootId: 'boot-0' }, { startTime: '100', silentMs: 0 }, 'dead'],
    ['an earlier container of this pod', { pidNamespace: 'pid:[0]' }, { startTime: '100', silentMs: 0 }, 'dead'],
    ['an earlier pod of this name on another node', { bootId: 'b', pidNamespace: 'p' }, { startTime: undefined, silentMs: 0 }, 'dead'],
    ['another pod, heard of just now', { host: 'gw-1', pidNamespace: 'p' }, { startTime: undefined, silentMs: 149_999 }, 'alive'],
    ['another pod, by a clock ahead of ours', { host: 'gw-1', pidNamespace: 'p' }, { startTime: undefined, silentMs: -60_000 }, 'alive'],
    ['another pod, silent for long', { host: 'gw-1', pidNamespace: 'p' }, { startTime: undefined, silentMs: 150_001 }, 'dead'],
    ['another machine, whose pid runs here by chance', { host: 'x', bootId: 'b' }, { startTime: '100', silentMs: 1_000 }, 'alive'],
  ]
  for (const [name, holder, evidence, expected] of rows) t.equal(judgeHolder({ ...self, ...holder }, self, evidence), expected, name)
})
