/**
 * Bodies of a megabyte that would take many times their size in memory if parsed, and some that are parsed; by name, with the expected
 * status when authenticated.
 */
export function hostileBodies(): Record<string, { body: Buffer; status: number }> {
  const size = 1024 * 1024 - 64
  const refused = (text: string) => ({ body: Buffer.from(text), status: 422 })
  return {
    'deep nesting': refused('['.repeat(size)),
    'many keys': refused(`{${'"a":1,'.repeat(size / 6)}"b":1}`),
    'many lists': refused(`{"x":[${'[],'.repeat(size / 3)}1]}`),
    'many numbers': refused(`{"x":[${'1.5,'.repeat(size / 4)}1]}`),
    'many short texts': refused(`{"x":[${Array.from({ length: 40_000 }, (_, index) => `"${index}${'y'.repeat(16)}"`).join(',')}]}`),
    'one long text': { body: Buffer.from(JSON.stringify({ ref: 'main', text: 'x'.repeat(size) })), status: 202 },
  }
}
