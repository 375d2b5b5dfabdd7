import t from 'tap'
import { acceptsGzip, retryAfterToMs } from '../../../runtime/http/headers.ts'

void t.test('gzip is used if the client accepts it', async (t) => {
  for (const header of ['gzip', 'gzip, deflate, br', 'br;q=1.0, GZIP;q=0.5', '*']) t.equal(acceptsGzip(header), true, header)
  for (const header of [undefined, '', 'br', 'identity', 'gzip;q=0', 'gzip; q=0.000', 'x-gzip'])
    t.equal(acceptsGzip(header), false, String(header))
})

void t.test('Retry-After is a number of seconds, or a time that counts from the Date of the response', async (t) => {
  const sent = 'Fri, 27 Nov 2026 23:59:30 GMT'
  const rows: [header: string | undefined, date: string | undefined, ms: number | undefined][] = [
    ['120', undefined, 120_000],
    ['0', sent, 0],
    ['Sat, 28 Nov 2026 00:00:10 GMT', sent, 40_000],
    ['Fri, 27 Nov 2026 23:00:00 GMT', sent, 0],
    ['Sat, 28 Nov 2026 00:00:10 GMT', undefined, undefined],
    ['Sat, 28 Nov 2026 00:00:10 GMT', 'yesterday', undefined],
    ['Sat, 28 Nov 2026 25:00:00 GMT', sent, undefined],
    ['Sat, 28 Xxx 2026 00:00:10 GMT', sent, undefined],
    ['2026-11-28T00:00:10Z', sent, undefined],
    ['-1', sent, undefined],
    ['1.5', sent, undefined],
    ['1234567', sent, undefined],
    ['', sent, undefined],
    [undefined, sent, undefined],
  ]
  for (const [header, date, ms] of rows) t.equal(retryAfterToMs(header, date), ms, `${header} sent ${date}`)
})
