/**
 * Parses what a caller accepts from its headers. Pure.
 */

/** Whether a caller accepts gzip (`Accept-Encoding`); `*` counts, and `q=0` does not. */
export function acceptsGzip(header: string | undefined): boolean {
  return (header ?? '').split(',').some((part) => {
    const [coding = '', ...parameters] = part.trim().toLowerCase().split(';')
    return (coding === 'gzip' || coding === '*') && !parameters.some((one) => /^\s*q=0(?:\.0*)?\s*$/.test(one))
  })
}
