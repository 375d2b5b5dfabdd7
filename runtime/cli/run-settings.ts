/**
 * What `cluster-sync run` was told, checked.
 */
import type { StandaloneSync, Target } from '../standalone/settings.ts'

export type RunOptions = {
  secrets?: string
  once?: true
  /** Seconds. */
  timeout: number
  receiverPort?: number
  hmacSecretFile?: string
  tokenFile?: string
  apiKeyFile?: string
  logLevel: 'debug' | 'info' | 'warn' | 'error'
}

export type RunSettings = RunOptions & { sync: StandaloneSync; targets: Target[]; stateDir: string }
