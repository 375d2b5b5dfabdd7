/**
 * An identity provider, as far as a login needs one.
 */
import type { Claims } from './claims.ts'

/** What a browser must bring back, and what proves to the provider that it is us who asked. */
export type Attempt = { state: string; nonce: string; verifier: string }

/** `error` is the word of OAuth 2.0 for why. `failed`: what the provider answered proves nothing, and the log says why. */
export type Finished = { kind: 'claims'; claims: Claims } | { kind: 'refused'; error: string } | { kind: 'failed' }

export type Provider = {
  /** Where the browser goes to log in. Undefined where the provider cannot be reached. */
  begin(): Promise<{ url: string; attempt: Attempt } | undefined>
  /** `query`: what the browser brought back. `refused`: the provider's word for why, of OAuth 2.0. Never throws. */
  finish(query: string, attempt: Attempt): Promise<Finished>
  /** Where the browser goes to log out of the provider; undefined where that is not offered. Never throws. */
  logoutUrl(): Promise<string | undefined>
}
