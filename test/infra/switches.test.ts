/**
 * Every pair of switches: pairs that exclude each other are refused with their key, all others can be installed.
 */
import t from 'tap'
import * as v from 'valibot'
import { checkValues } from '../../infra/values/check.ts'
import type { ValuesInput } from '../../infra/values.ts'
import { controllerSettings } from '../../runtime/settings/controller.ts'
import { allPairs, hasPair } from '../support/pairwise.ts'
import { refused, rows, switches, valuesOf } from '../support/switches.ts'
import { objectsOf, profiles, settingsOf } from './installed.ts'

void t.test('rows are accepted, and every pair of settings is in one unless it is refused', async (t) => {
  for (const row of rows) t.doesNotThrow(() => checkValues(valuesOf(row)), JSON.stringify(row))
  const isRefused = (text: string): boolean => refused.some(({ pair }) => JSON.stringify(pair.toSorted()) === text)
  const missing = allPairs(switches).filter(
    (pair) => !rows.some((row) => hasPair(row, pair)) && !isRefused(JSON.stringify(pair.toSorted())),
  )
  t.strictSame(missing, [])
})

void t.test('the controller accepts the settings of every profile and row', async (t) => {
  for (const values of [...Object.values<ValuesInput>(profiles), ...rows.map(valuesOf)]) {
    t.doesNotThrow(() => v.parse(controllerSettings, settingsOf(objectsOf(values))))
  }
})

void t.test('a refused pair is refused beside any other settings, with the key to change first', async (t) => {
  for (const { pair, key } of refused) {
    for (const row of rows) t.throws(() => checkValues(valuesOf({ ...row, ...Object.fromEntries(pair) })), new RegExp(`^${key}: `, 'm'))
  }
})
