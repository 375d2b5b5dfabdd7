import t from 'tap'
import { planEviction, type StoredMirror } from '../../../../runtime/git/mirror/volume-plan.ts'

const mirror = (key: string, bytes: number, namespaces: string[], usedAtMs: number, isBusy = false): StoredMirror => ({
  key,
  bytes,
  namespaces,
  usedAtMs,
  isBusy,
})

void t.test('mirrors are dropped by use and namespace share when space is needed', async (t) => {
  const rows: [string, StoredMirror[], number, string[]][] = [
    ['there is room', [mirror('m', 0, ['a'], 9), mirror('x', 50, ['b'], 1)], 50, []],
    ['what nobody uses goes first', [mirror('m', 0, ['a'], 9), mirror('x', 50, ['b'], 1), mirror('y', 40, [], 5)], 50, ['y']],
    [
      'a namespace within its share keeps what it has',
      [mirror('m', 0, ['a'], 9), mirror('x', 33, ['b'], 1), mirror('y', 33, ['c'], 2)],
      50,
      [],
    ],
    [
      'the least recently used mirror of a namespace beyond its share goes',
      [mirror('m', 0, ['a'], 9), mirror('x', 40, ['b'], 3), mirror('y', 40, ['b'], 2)],
      50,
      ['y'],
    ],
    [
      'no more goes than is needed, and a namespace is left its share',
      [mirror('m', 0, ['a'], 9), mirror('x', 30, ['b'], 1), mirror('y', 30, ['b'], 2), mirror('z', 30, ['b'], 3)],
      40,
      ['x'],
    ],
    [
      'the asking namespace gives way to itself',
      [mirror('m', 10, ['a'], 9), mirror('x', 60, ['a'], 1), mirror('y', 20, ['b'], 2)],
      40,
      ['x'],
    ],
    ['a mirror that is fetched into stays', [mirror('m', 0, ['a'], 9), mirror('x', 90, ['b'], 1, true)], 50, []],
    [
      'a mirror of several namespaces stays while one of them is within its share',
      [mirror('m', 0, ['a'], 9), mirror('x', 60, ['b', 'c'], 1)],
      50,
      [],
    ],
    [
      'where dropping would not be enough, nothing that is used goes',
      [mirror('m', 0, ['a'], 9), mirror('x', 60, ['b'], 1), mirror('y', 20, ['c'], 2)],
      90,
      [],
    ],
  ]
  for (const [name, mirrors, needed, drop] of rows)
    t.strictSame(planEviction({ mirrors, reserved: [], maxBytes: 100, needed, key: 'm', namespace: 'a' }), { drop }, name)
})

void t.test('running fetches count towards the share of their namespace', (t) => {
  const mirrors = [mirror('m', 0, ['a'], 9), mirror('x', 20, ['b'], 1), mirror('y', 20, ['b'], 2, true)]
  const facts = { mirrors, maxBytes: 100, needed: 30, key: 'm', namespace: 'a' }
  t.strictSame(planEviction({ ...facts, reserved: [{ namespace: 'b', bytes: 45 }] }), { drop: ['x'] })
  t.strictSame(
    planEviction({ ...facts, reserved: [{ namespace: 'c', bytes: 45 }] }),
    { drop: ['x'] },
    'of three, b holds more than its share',
  )
  t.strictSame(planEviction({ ...facts, needed: 60, reserved: [{ namespace: 'b', bytes: 45 }] }), { drop: [] }, 'a holds more than b')
  t.end()
})
