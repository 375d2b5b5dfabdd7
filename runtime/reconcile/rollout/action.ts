/**
 * Parses rollout actions from annotations: approve a stage, abort, or resume after a failure. Pure.
 */
import { createHash } from 'node:crypto'
import { rolloutAnnotations } from '../../api/names.ts'

export type RolloutVerb = 'approve' | 'abort' | 'resume'

/** One action in the annotations. */
export type RolloutAction = {
  verb: RolloutVerb
  /** The rollout it applies to: an action on an earlier one is ignored. */
  id: string
  /** The stage to approve. */
  stage: string | undefined
  by: string
  /** Identifies these annotations: each action is executed once. */
  digest: string
}

/** Returns the action in the annotations of a GatewaySync; undefined without valid ones. */
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

/** Returns the annotation value that requests an action; `stage` is the one to approve. */
export function actionText(verb: RolloutVerb, id: string, stage?: string): string {
  return [verb, id, ...(stage === undefined ? [] : [stage])].join(' ')
}
