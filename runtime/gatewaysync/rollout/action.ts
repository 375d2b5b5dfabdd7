/**
 * What somebody asks of a rollout by annotation: to approve a stage, to stop and go back, to go on after a failure. Pure.
 */
import { createHash } from 'node:crypto'
import { rolloutAnnotations } from '../names.ts'

export type RolloutVerb = 'approve' | 'abort' | 'resume'

/** One action, as its annotations say it. */
export type RolloutAction = {
  verb: RolloutVerb
  /** The rollout that is meant: what was said of an earlier one says nothing about this. */
  id: string
  /** The stage to approve. */
  stage: string | undefined
  by: string
  /** Tells these annotations from any others: each is acted on once. */
  digest: string
}

/** The action annotations of a GatewaySync; undefined where there are none that can be read. */
export function parseAction(annotations: Readonly<Record<string, string>>): RolloutAction | undefined {
  const text = annotations[rolloutAnnotations.action]
  const [, verb, id, stage] = /^(approve|abort|resume) (\S{1,64})(?: (\S{1,63}))?$/.exec(text ?? '') ?? []
  if (text === undefined || id === undefined || (verb !== 'approve' && verb !== 'abort' && verb !== 'resume')) return undefined
  const [by, at] = [annotations[rolloutAnnotations.by], annotations[rolloutAnnotations.at]]
  const digest = createHash('sha256')
    .update(JSON.stringify([text, by ?? null, at ?? null]))
    .digest('hex')
    .slice(0, 32)
  return { verb, id, stage, by: (by ?? 'annotation').slice(0, 128), digest }
}

/** The annotation that asks for an action; `stage` is the one to approve. */
export function actionText(verb: RolloutVerb, id: string, stage?: string): string {
  return [verb, id, ...(stage === undefined ? [] : [stage])].join(' ')
}
