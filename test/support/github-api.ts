/**
 * The endpoint of GitHub that an App needs: it checks the JWT like GitHub and issues installation tokens.
 */
import { createPublicKey, generateKeyPairSync } from 'node:crypto'
import { createServer, type ServerOptions } from 'node:https'
import type { AddressInfo } from 'node:net'
import { jwtVerify } from 'jose'

export type GithubApi = {
  url: string
  /** The private key of the App, in the format in which GitHub issues it. */
  privateKey: string
  /** Issued tokens, in order. */
  given: string[]
  /** The answer instead of a token. */
  answer: { status: number; body: string } | undefined
  /** The lifetime of the next token. */
  lastsMs: number
  stop(): Promise<void>
}

export async function startGithubApi(
  tls: ServerOptions,
  { appId, installationId }: { appId: number; installationId: number },
): Promise<GithubApi> {
  const keys = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const privateKey = keys.privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
  const publicKey = createPublicKey(keys.publicKey.export({ type: 'spki', format: 'pem' }))
  const allowed = async (authorization: string): Promise<boolean> => {
    try {
      const { payload } = await jwtVerify(authorization.replace('Bearer ', ''), publicKey, { algorithms: ['RS256'], issuer: String(appId) })
      // GitHub refuses a JWT of more than ten minutes.
      return (payload.exp ?? Infinity) - (payload.iat ?? 0) <= 600
    } catch {
      return false
    }
  }
  const server = createServer(tls, (request, response) => {
    void allowed(request.headers.authorization ?? '').then((isApp) => {
      const send = (status: number, body: string): void => void response.writeHead(status, { 'content-type': 'application/json' }).end(body)
      if (api.answer !== undefined) return send(api.answer.status, api.answer.body)
      if (!isApp) return send(401, '{"message":"the secret of the API is hunter2"}')
      if (request.method !== 'POST' || request.url !== `/api/v3/app/installations/${installationId}/access_tokens`) return send(404, '{}')
      const token = `ghs_${api.given.length}`
      api.given.push(token)
      return send(201, JSON.stringify({ token, expires_at: new Date(Date.now() + api.lastsMs).toISOString() }))
    })
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const api: GithubApi = {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/api/v3`,
    privateKey,
    given: [],
    answer: undefined,
    lastsMs: 3_600_000,
    async stop() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
  return api
}
