import t from 'tap'
import { type Holder, classifyHolder } from '../../../../runtime/sync/disk/lock-holder.ts'

const self: Holder = { id: 'a', pid: 7, startTime: '100', bootId: 'boot-1', pidNamespace: 'pid:[1]', host: 'gw-0', only: 'pod-1' }

void t.test('a lock holder is classified by its process if visible, and by its heartbeat otherwise', async (t) => {
  const other = { id: 'b' }
  const elsewhere = { ...other, pidNamespace: 'pid:[2]', only: '' }
  const rows: [string, Partial<Holder>, string | undefined, ReturnType<typeof classifyHolder>][] = [
    ['this very process', {}, '100', 'ours'],
    ['this very process, in a namespace of its own by now', { pidNamespace: 'pid:[2]' }, undefined, 'ours'],
    ['another process that runs', { ...other, pid: 8, startTime: '90' }, '90', 'alive'],
    ['a process that has ended', { ...other, pid: 8, startTime: '90' }, undefined, 'dead'],
    ['a process whose pid belongs to a later one', { ...other, pid: 8, startTime: '90' }, '95', 'dead'],
    ['our own pid in an earlier life', { ...other, startTime: '90' }, '100', 'dead'],
    ['an earlier container of this pod', { ...other, pidNamespace: 'pid:[0]' }, '100', 'dead'],
    ['before the machine started anew', { ...elsewhere, bootId: 'boot-0' }, '100', 'dead'],
    ['another container of this host, under its name', elsewhere, '100', 'unseen'],
    ['another container of this host, under another name', { ...elsewhere, host: 'x' }, undefined, 'unseen'],
    ['another machine, whose pid runs here by chance', { ...elsewhere, host: 'x', bootId: 'b' }, '100', 'unseen'],
    ['a system that tells no namespace', { ...elsewhere, pidNamespace: '' }, '100', 'unseen'],
  ]
  for (const [name, holder, startTime, expected] of rows) t.equal(classifyHolder({ ...self, ...holder }, self, startTime), expected, name)
})
