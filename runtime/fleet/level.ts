/**
 * How much something wants somebody's attention, and the words that go with a reason. Pure.
 */
import { meaningOf } from '../gatewaysync/decide/conditions.ts'

/** `working` passes by itself; a `warning` is what somebody chose or should know of; an `error` stays until somebody does something. */
export type Level = 'ok' | 'working' | 'warning' | 'error'

const order: readonly Level[] = ['ok', 'working', 'warning', 'error']

/** The one that wants most attention; `ok` of none. */
export function worstOf(levels: readonly Level[]): Level {
  return levels.reduce<Level>((worst, level) => (order.indexOf(level) > order.indexOf(worst) ? level : worst), 'ok')
}

/** What a reason means in one sentence; undefined of none and of one that the table does not have. */
export function meaningOrUndefined(reason: string | undefined): string | undefined {
  return reason === undefined ? undefined : meaningOf(reason)
}
