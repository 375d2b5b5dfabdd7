/**
 * What `cluster-sync run` was told, checked.
 */
import type { LogLevel } from '../../log-level.ts'
import type { StandaloneSync, Target } from '../../standalone/settings.ts'

export type RunOptions = {
  file: string
  secrets?: string
  once?: true
  /** Seconds. */
  timeout: number
  receiverPort?: number
  statusPort?: number
  statusHost: string
  hmacSecretFile?: string
  tokenFile?: string
  apiKeyFile?: string
  /** Undefined: what somebody should know is told with everything else. */
  logLevel?: LogLevel
  format: 'text' | 'json'
  verbose?: true
}

/** What the file with the GatewaySync says, and where it is to be brought. */
export type Followed = { sync: StandaloneSync; targets: Target[] }

export type RunSettings = RunOptions &
  Followed & {
    stateDir: string
    /** The text of the file that `followed` was made from. */
    text: string
    /** Takes another text of the file. Throws InvalidConfiguration. */
    follow(text: string): Followed
  }
