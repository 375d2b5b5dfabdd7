/**
 * A certified OpenID Connect provider (oidc-provider) on loopback with TLS, and a simulated browser of a user who logs in: cookies by
 * origin, redirects, and the provider's forms.
 */
import { mkdtempSync } from 'node:fs'
import * as http from 'node:http'
import * as https from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import Provider from 'oidc-provider'
import type { Test } from 'tap'
import { makeAuthority } from './authority.ts'
import { freePort } from './ports.ts'

export const clientSecret = 'the secret of the client, long enough'

export type IdentityProvider = { issuer: string; caBundle: string; stop(): Promise<void> }

/** `people`: claims by name. Groups are only returned by the userinfo endpoint, as in the standard. */
export async function startIdentityProvider(
  t: Pick<Test, 'teardown'>,
  { people, externalURL }: { people: Readonly<Record<string, Readonly<Record<string, unknown>>>>; externalURL: string },
): Promise<IdentityProvider> {
  const folder = mkdtempSync(path.join(tmpdir(), 'identity-provider-'))
  const { certificate, server: pair } = await makeAuthority(folder, 'identities', ['localhost'])
  const port = await freePort()
  const issuer = `https://localhost:${port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: 'status-page',
        client_secret: clientSecret,
        redirect_uris: [`${externalURL}/login/callback`],
        post_logout_redirect_uris: [`${externalURL}/logged-out`],
      },
    ],
    claims: { openid: ['sub'], profile: ['preferred_username', 'groups', '_claim_names'], email: ['email', 'email_verified'] },
    findAccount: (_context: unknown, id: string) =>
      id in people ? { accountId: id, claims: () => ({ sub: id, ...people[id] }) } : undefined,
    pkce: { required: () => true },
    cookies: { keys: ['of the tests'] },
  })
  const server = https.createServer({ cert: pair.certificate, key: pair.key }, provider.callback())
  await new Promise<void>((resolve) => server.listen(port, 'localhost', resolve))
  const stop = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  t.teardown(stop)
  return { issuer, caBundle: certificate, stop }
}

export type Answer = { status: number; text: string; headers: http.IncomingHttpHeaders; url: string }

/** A browser that keeps cookies by origin and does not follow redirects automatically. `at`: the real address of an origin. */
export function createBrowser(caBundle: string, at: Readonly<Record<string, string>>) {
  const cookies = new Map<string, Map<string, string>>()
  const send = async (method: string, url: string, body?: string, more: http.OutgoingHttpHeaders = {}): Promise<Answer> => {
    const { origin, pathname, search } = new URL(url)
    const jar = cookies.get(origin) ?? new Map<string, string>()
    cookies.set(origin, jar)
    const where = `${at[origin] ?? origin}${pathname}${search}`
    const headers = {
      accept: 'text/html',
      'sec-fetch-dest': 'document',
      cookie: [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
      ...(body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded', 'sec-fetch-site': 'same-origin' }),
      ...more,
    }
    const answer = await new Promise<http.IncomingMessage>((resolve, reject) => {
      const { request } = where.startsWith('https:') ? https : http
      const call = request(where, { method, headers, ca: caBundle, agent: false }, resolve)
      call.on('error', reject)
      call.end(body)
    })
    for (const cookie of answer.headers['set-cookie'] ?? []) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      if (value === '' || /Max-Age=0|expires=Thu, 01 Jan 1970/i.test(cookie)) jar.delete(name)
      else jar.set(name, value)
    }
    const text = Buffer.concat((await answer.toArray()) as Buffer[]).toString('utf8')
    return { status: answer.statusCode ?? 0, text, headers: answer.headers, url }
  }
  const get = (url: string, more?: http.OutgoingHttpHeaders): Promise<Answer> => send('GET', url, undefined, more)
  /** Follows redirects and submits the provider's forms as this user, until the next address matches. */
  const logIn = async (from: string, name: string, until: RegExp): Promise<string> => {
    let answer = await get(from)
    for (let step = 0; step < 20; step += 1) {
      const to = answer.headers.location
      if (to !== undefined) {
        const next = new URL(to, answer.url).href
        if (until.test(next)) return next
        answer = await get(next)
        continue
      }
      const prompt = /name="prompt" value="([^"]+)"/.exec(answer.text)?.[1]
      const action = /action="([^"]+)"/.exec(answer.text)?.[1]
      if (prompt === undefined || action === undefined)
        throw new Error(`no form: ${answer.status} ${answer.url} ${answer.text.slice(0, 400)}`)
      answer = await send('POST', new URL(action, answer.url).href, new URLSearchParams({ prompt, login: name, password: 'x' }).toString())
    }
    throw new Error('the login does not end')
  }
  return { get, send, logIn, cookies: (origin: string) => cookies.get(origin) ?? new Map<string, string>() }
}
