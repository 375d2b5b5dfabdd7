/**
 * Parses headers: what a caller accepts, and Retry-After of a response (RFC 9110, 10.2.3). Pure.
 */

/** Whether a caller accepts gzip (`Accept-Encoding`); `*` counts, and `q=0` does not. */
export function acceptsGzip(header: string | undefined): boolean {
  return (header ?? '').split(',').some((part) => {
    const [coding = '', ...parameters] = part.trim().toLowerCase().split(';')
    return (coding === 'gzip' || coding === '*') && !parameters.some((one) => /^\s*q=0(?:\.0*)?\s*$/.test(one))
  })
}

/**
 * How long to wait before the next request; undefined if the header is missing or malformed. A time counts from `date`, the header Date of the same
 * response, because the clocks of the two machines may differ; without that header it is ignored.
 */
export function retryAfterToMs(header: string | undefined, date?: string): number | undefined {
  if (header === undefined) return undefined
  if (/^[0-9]{1,6}$/.test(header)) return Number(header) * 1000
  const [untilMs, sentMs] = [httpDateToMs(header), httpDateToMs(date)]
  return untilMs === undefined || sentMs === undefined ? undefined : Math.max(0, untilMs - sentMs)
}

/** The preferred format of RFC 9110, 5.6.7, which is the only one that servers send now. */
const httpDate = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), [0-9]{2} [A-Z][a-z]{2} [0-9]{4} [0-9]{2}:[0-9]{2}:[0-9]{2} GMT$/

function httpDateToMs(text: string | undefined): number | undefined {
  const ms = text !== undefined && httpDate.test(text) ? Date.parse(text) : Number.NaN
  return Number.isNaN(ms) ? undefined : ms
}
