/**
 * What a caller takes, as its headers say. Pure.
 */

/** Whether a caller takes gzip (`Accept-Encoding`); `*` counts, and what is named with `q=0` does not. */
export function acceptsGzip(header: string | undefined): boolean {
  return (header ?? '').split(',').some((part) => {
    const [coding = '', ...parameters] = part.trim().toLowerCase().split(';')
    return (coding === 'gzip' || coding === '*') && !parameters.some((one) => /^\s*q=0(?:\.0*)?\s*$/.test(one))
  })
}
