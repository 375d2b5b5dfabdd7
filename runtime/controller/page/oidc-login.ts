/**
 * Logs people in to the status page by OpenID Connect. The provider client is loaded at the first login.
 */
import type { Clock } from '../../platform/clock.ts'
import type { Log } from '../../platform/log/log.ts'
import type { Proxies } from '../../git/remote/proxy.ts'
import type { Provider } from '../../statuspage/login/claims.ts'
import type { UserActions } from '../../statuspage/views/page-auth.ts'
import { createLogin, type Login } from '../../statuspage/login/routes.ts'
import { createLoginSecret, keysOf, type OidcSettings } from './login-secret.ts'

/** Next to the bundle, or the source file itself. */
const program = import.meta.url.endsWith('/controller/page/oidc-login.ts')
  ? new URL('oidc-provider.ts', import.meta.url)
  : new URL('login.mjs', import.meta.url)

/**
 * Sends no request until the first login. `proxies` lead to the provider; undefined: direct. A login that cannot read its secret or reach
 * the provider shows an error page.
 */
export function createOidcLogin(
  settings: OidcSettings,
  { proxies, clock, log }: { proxies: Proxies | undefined; clock: Clock; log: Log },
): { login: Login } & Pick<UserActions, 'formKeys'> {
  const secret = createLoginSecret(settings.secretFolder, { clock, log })
  let opened: Promise<Provider> | undefined
  const provider = async (): Promise<Provider> => {
    opened ??= (import(program.href) as Promise<typeof import('./oidc-provider.ts')>).then(
      ({ OidcProvider }) => new OidcProvider(settings, { secret, proxies, clock, log }),
    )
    return await opened
  }
  const login = createLogin({
    provider: {
      begin: async () => await (await provider()).begin(),
      finish: async (query, attempt) => await (await provider()).finish(query, attempt),
      logoutUrl: async () => await (await provider()).logoutUrl(),
    },
    settings: { ...settings, sessionMs: sessionMs(settings.sessionLifetime) },
    keys: async (purpose) => keysOf(await secret(), settings, purpose),
    clock,
  })
  return { login, formKeys: async () => keysOf(await secret(), settings, 'form') }
}

function sessionMs(lifetime: string): number {
  return Number.parseInt(lifetime, 10) * (lifetime.endsWith('h') ? 3_600_000 : 60_000)
}
