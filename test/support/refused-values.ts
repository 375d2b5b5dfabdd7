/**
 * Values of the installation that are refused, each with its message.
 */
import t from 'tap'
import { checkValues } from '../../infra/values/check.ts'

/** Returns why a check refuses its values, or `accepted`. */
export function refusal(check: () => unknown): string {
  try {
    check()
  } catch (error) {
    return (error as Error).message
  }
  return 'accepted'
}

export const host = { host: 'push.example.com', paths: [{ path: '/', pathType: 'Prefix' }] }
export const objectName = 'must be the name of an object: lower-case letters, digits, "-" and "."'
export const ingress = (members: object): object => ({
  webhookReceiver: { enabled: true, ingress: { enabled: true, hosts: [host], ...members } },
})

/** Registers a test for each row: its values are refused with its message. */
export function refuses(rows: Record<string, readonly [values: unknown, message: string]>): void {
  for (const [name, [values, message]] of Object.entries(rows))
    void t.test(`refused: ${name}`, async (t) => {
      t.equal(
        refusal(() => checkValues(values)),
        message,
      )
    })
}
