import t from 'tap'
import { acceptsGzip } from '../../../runtime/http/accept.ts'

void t.test('gzip is used if the client accepts it', async (t) => {
  for (const header of ['gzip', 'gzip, deflate, br', 'br;q=1.0, GZIP;q=0.5', '*']) t.equal(acceptsGzip(header), true, header)
  for (const header of [undefined, '', 'br', 'identity', 'gzip;q=0', 'gzip; q=0.000', 'x-gzip'])
    t.equal(acceptsGzip(header), false, String(header))
})
