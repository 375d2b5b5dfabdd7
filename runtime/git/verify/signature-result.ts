/**
 * The outcome of checking one signature. Pure.
 */
export type SignatureResult =
  /** `key` is a fingerprint; `by` the name that the Secret gives it. */
  | { kind: 'good'; key: string; by: string | undefined }
  /** Worded to follow the name of the object. */
  | { kind: 'bad'; why: string }
