/**
 * A capture request: where it can be made, and when it is answered.
 */
import t from 'tap'
import { captureAnnotationsFor, captureProgress } from '../../../runtime/fleet/capture-action.ts'
import type { CaptureEntry } from '../../../runtime/api/schema/capture-spec.ts'
import type { GatewaySyncStatus } from '../../../runtime/api/schema/status.ts'
import { matchObject, throwsError } from '../../support/assertions.ts'
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
  return captureProgress({ namespace: 'plant-a', name: 'plant', generation: 1, status }, { ...asked, ...more })
}

void t.test('a request needs an enabled spec.capture and names one gateway or clears an earlier name', async (t) => {
  const of = (spec: unknown, gateway?: string) =>
    captureAnnotationsFor({ namespace: 'plant-a', name: 'plant', spec }, { id: 'now', gateway }, 'maria')
  const names = ['at', 'by'].map((name) => `clustersync.io/capture-requested-${name}`)
  t.strictSame(of({ capture: {} }), { [names[0] ?? '']: 'now', [names[1] ?? '']: 'maria', 'clustersync.io/capture-gateway': null })
  matchObject(t, of({ capture: {} }, 'press'), { 'clustersync.io/capture-gateway': 'press' })
  for (const spec of [{}, { capture: { enabled: false } }, undefined])
    throwsError(t, () => of(spec), { name: 'Fault', message: /spec\.capture/ })
})

void t.test('a request ends once all gateways or the named one have answered; a failed gateway is waited for', async (t) => {
  const pushed: Partial<CaptureEntry> = { state: 'Pushed', files: 2, commit, branch: 'captured/press', skippedFiles: 1 }
  const other: Partial<CaptureEntry> = { pod: 'gw-1', gateway: 'oven' }
  matchObject(t, verdict([]), { kind: 'waiting', sentence: '0 of 2 gateways have responded' })
  matchObject(t, verdict([pushed]), { kind: 'waiting', sentence: /^1 of 2 gateways have responded: press: 2 files, 1 skipped, commit/ })
  matchObject(t, verdict([pushed], { gateway: 'press' }), { kind: 'ended', outcome: { done: true, outcome: 'Captured' } })
  matchObject(t, verdict([pushed, { ...other, state: 'Failed', message: 'away' }]), {
    kind: 'waiting',
    sentence: /oven: 0 files not pushed: away/,
  })
  matchObject(t, verdict([pushed, other]), {
    kind: 'ended',
    outcome: { done: true, outcome: 'Captured', message: /; oven: nothing to capture$/ },
  })
  matchObject(t, verdict([{}, other]), { kind: 'ended', outcome: { done: false, outcome: 'NothingChanged' } })
  const refused: Partial<CaptureEntry> = { state: 'Refused', files: 1, reason: 'PushRefused', message: 'not ours' }
  matchObject(t, verdict([refused, other]), { kind: 'ended', outcome: { done: false, outcome: 'Refused', reason: 'PushRefused' } })
  matchObject(t, verdict([{ ...pushed, request: 'before' }], {}, 1), { kind: 'waiting' }, 'an answer to an earlier request')
  matchObject(t, captureProgress({ namespace: 'a', name: 'b', generation: 1, status: {} }, asked), { kind: 'waiting' })
  matchObject(t, verdict([], {}, 0), { kind: 'ended', outcome: { message: 'no gateway follows it yet' } })
})

void t.test('a requested pull request is waited for, and a refusal says why', async (t) => {
  const pushed = (pullRequest: CaptureEntry['pullRequest']): Partial<CaptureEntry> => {
    return { state: 'Pushed', files: 2, commit, branch: 'captured/press', pullRequest }
  }
  const url = 'https://git.example/plant/line/pulls/1'
  matchObject(t, verdict([pushed({ state: 'Waiting' })], {}, 1), { kind: 'waiting', sentence: /pull request being opened$/ })
  matchObject(t, verdict([pushed({ state: 'Open', url })], {}, 1), {
    outcome: { done: true, outcome: 'Captured', message: new RegExp(`${url}$`) },
  })
  const refused = pushed({ state: 'Refused', reason: 'PullRequestRefused', message: 'git.example answered 403' })
  matchObject(t, verdict([refused], {}, 1), {
    outcome: {
      done: false,
      outcome: 'Refused',
      reason: 'PullRequestRefused',
      message: /captured\/press, no pull request: git\.example answered 403/,
    },
  })
})

void t.test('if the list of answers is truncated, every gateway with an agent is still waited for', async (t) => {
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
    return captureProgress({ namespace: 'plant-a', name: 'plant', generation: 1, status }, asked)
  }
  matchObject(t, of(45), { kind: 'waiting', sentence: /^45 of 48 gateways have responded/ })
  matchObject(t, of(48), { kind: 'ended', outcome: { outcome: 'NothingChanged' } })
})
