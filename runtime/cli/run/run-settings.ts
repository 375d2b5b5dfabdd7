import type { StandaloneSync, Target } from '../../standalone/settings.ts'
import type { LogLevel } from '../../platform/log/level.ts'

export type RunOptions = {
  file: string
  secrets?: string
  once?: true
  /** In milliseconds. */
  timeout: number
  receiverPort?: number
  receiverHost?: string
  statusPort?: number
  statusHost: string
  hmacSecretFile?: string
  tokenFile?: string
  apiKeyFile?: string
  /** Undefined: log entries for users become events. */
  logLevel?: LogLevel
  format: 'text' | 'json'
  verbose?: true
}

/** The GatewaySync of the file, and its targets. */
export type Followed = { sync: StandaloneSync; targets: Target[] }

export type RunSettings = RunOptions &
  Followed & {
    stateDir: string
    /** The text of the file that `followed` was built from. */
    text: string
    /** Switches to another text of the file. Throws InvalidConfiguration. */
    follow(text: string): Followed
  }
