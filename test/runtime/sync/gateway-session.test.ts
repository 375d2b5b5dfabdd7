/**
 * Which problems of a gateway are new.
 */
import t from 'tap'
import { newProblems } from '../../../runtime/sync/gateway-session.ts'

for (const [what, before, after, expected] of [
  ['nothing complains', [], [], []],
  ['what was there stays', ['a is faulted'], ['a is faulted'], []],
  ['what was there is gone', ['a is faulted'], [], []],
  ['another thing', ['a is faulted'], ['a is faulted', 'b is faulted'], ['b is faulted']],
  ['a time that passes', ['down for 5 s'], ['down for 25 s'], []],
  ['the same once more', ['device 1 is down'], ['device 1 is down', 'device 2 is down'], ['device 2 is down']],
] as const) {
  void t.test(what, (t) => {
    t.strictSame(newProblems(before, after), expected)
    t.end()
  })
}
