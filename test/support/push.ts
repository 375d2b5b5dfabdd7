/**
 * A push as a git host tells of it.
 */
import { request } from 'undici'

/** Over a connection of its own: one that is kept may be closed by the time of the next push. Throws unless it is accepted. */
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
