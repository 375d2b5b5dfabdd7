/**
 * A request for what was changed on gateways: where it can be made, and when it is answered.
 */
import t from 'tap'
import { askCapture, captureVerdict } from '../../../runtime/fleet/capture-action.ts'
import type { CaptureEntry } from '../../../runtime/gatewaysync/schema/capture-spec.ts'
import type { GatewaySyncStatus } from '../../../runtime/gatewaysync/schema/status.ts'
import { commit, counts } from '../../support/fleet-facts.ts'

const asked = { id: 'now', gateway: undefined }

function verdict(gateways: Partial<CaptureEntry>[], more: Partial<typeof asked> | { gateway: string } = {}, total = 2) {
  const entries = gateways.map((entry): CaptureEntry => ({
    pod: 'gw-0',
    gateway: 'press',
    request: 'now',
    state: 'Nothing',
    at: '2026-03-01T12:00:00Z',
    ...entry,
  }))
  const status: GatewaySyncStatus = { capture: { request: 'now', gateways: entries }, gateways: counts({ total }) }
  return captureVerdict({ namespace: 'plant-a', name: 'plant', generation: 1, status }, { ...asked, ...more })
}

void t.test('a request is made only where spec.capture is enabled, and names one gateway or takes an earlier name away', async (t) => {
  const of = (spec: unknown, gateway?: string) => askCapture({ namespace: 'plant-a', name: 'plant', spec }, { id: 'now', gateway }, 'maria')
  const names = ['at', 'by'].map((name) => `clustersync.io/capture-requested-${name}`)
  t.same(of({ capture: {} }), { [names[0] ?? '']: 'now', [names[1] ?? '']: 'maria', 'clustersync.io/capture-gateway': null })
  t.match(of({ capture: {} }, 'press'), { 'clustersync.io/capture-gateway': 'press' })
  for (const spec of [{}, { capture: { enabled: false } }, undefined]) t.throws(() => of(spec), { name: 'Fault', message: /spec\.capture/ })
})

void t.test('a request is answered once every gateway has answered, or the one that it names; a failure is waited for', async (t) => {
  const pushed: Partial<CaptureEntry> = { state: 'Pushed', files: 2, commit, branch: 'captured/press', leftOutFiles: 1 }
  const other: Partial<CaptureEntry> = { pod: 'gw-1', gateway: 'oven' }
  t.match(verdict([]), { kind: 'waiting', sentence: '0 of 2 gateways have answered' })
  t.match(verdict([pushed]), { kind: 'waiting', sentence: /^1 of 2 gateways have answered: press: 2 files, 1 left out, commit/ })
  t.match(verdict([pushed], { gateway: 'press' }), { kind: 'ended', outcome: { done: true, outcome: 'Captured' } })
  t.match(verdict([pushed, { ...other, state: 'Failed', message: 'away' }]), {
    kind: 'waiting',
    sentence: /oven: 0 files not pushed: away/,
  })
  t.match(verdict([pushed, other]), { kind: 'ended', outcome: { done: true, outcome: 'Captured', message: /; oven: nothing to capture$/ } })
  t.match(verdict([{}, other]), { kind: 'ended', outcome: { done: false, outcome: 'NothingChanged' } })
  const refused: Partial<CaptureEntry> = { state: 'Refused', files: 1, reason: 'PushRefused', message: 'not ours' }
  t.match(verdict([refused, other]), { kind: 'ended', outcome: { done: false, outcome: 'Refused', reason: 'PushRefused' } })
  t.match(verdict([{ ...pushed, request: 'before' }], {}, 1), { kind: 'waiting' }, 'an answer to an earlier request')
  t.match(captureVerdict({ namespace: 'a', name: 'b', generation: 1, status: {} }, asked), { kind: 'waiting' })
  t.match(verdict([], {}, 0), { kind: 'ended', outcome: { message: 'no gateway follows it yet' } })
})

void t.test('a pull request that was asked for is waited for, and where there is none it is said why', async (t) => {
  const pushed = (pullRequest: CaptureEntry['pullRequest']): Partial<CaptureEntry> => {
    return { state: 'Pushed', files: 2, commit, branch: 'captured/press', pullRequest }
  }
  const url = 'https://git.example/plant/line/pulls/1'
  t.match(verdict([pushed({ state: 'Waiting' })], {}, 1), { kind: 'waiting', sentence: /pull request being opened$/ })
  t.match(verdict([pushed({ state: 'Open', url })], {}, 1), {
    outcome: { done: true, outcome: 'Captured', message: new RegExp(`${url}$`) },
  })
  const refused = pushed({ state: 'Refused', reason: 'PullRequestRefused', message: 'git.example answered 403' })
  t.match(verdict([refused], {}, 1), {
    outcome: {
      done: false,
      outcome: 'Refused',
      reason: 'PullRequestRefused',
      message: /captured\/press, no pull request: git\.example answered 403/,
    },
  })
})

void t.test('of a fleet that is larger than its list every gateway with an agent is waited for', async (t) => {
  const listed = Array.from({ length: 20 }, (_, index): CaptureEntry => ({
    pod: `gw-${index}`,
    gateway: `gw-${index}`,
    request: 'now',
    state: 'Nothing',
    at: '2026-03-01T12:00:00Z',
  }))
  const of = (answered: number) => {
    const capture = { request: 'now', answered, gateways: listed }
    const status: GatewaySyncStatus = { capture, gateways: counts({ total: 50, missingAgent: 2 }) }
    return captureVerdict({ namespace: 'plant-a', name: 'plant', generation: 1, status }, asked)
  }
  t.match(of(45), { kind: 'waiting', sentence: /^45 of 48 gateways have answered/ })
  t.match(of(48), { kind: 'ended', outcome: { outcome: 'NothingChanged' } })
})
