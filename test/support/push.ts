/**
 * A push notification as a git host sends it.
 */
import { request } from 'undici'

/** Uses a new connection: a kept one may be closed before the next push. Throws unless the push is accepted. */
export async function pushTo({ url, token }: { url: string; token: string }, namespace: string, name: string): Promise<void> {
  const { statusCode, body } = await request(`${url}/webhook/${namespace}/${name}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"ref":"refs/heads/main"}',
    reset: true,
  })
  await body.dump()
  if (statusCode !== 202) throw new Error(`the receiver answered ${statusCode}`)
}
