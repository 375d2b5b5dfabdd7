/**
 * Where somebody wanted to go before they logged in: a page of ours and nothing else, whatever an address says. Pure.
 */
const pages = /^\/(?:gatewaysyncs\/[A-Za-z0-9%._~/-]*|account)?(?:\?[A-Za-z0-9%._~=&+*-]*)?$/
const maxLength = 1_024

/** `/` for whatever is no page of ours. */
export function returnPath(wanted: string | undefined): string {
  return wanted !== undefined && wanted.length <= maxLength && pages.test(wanted) && !wanted.includes('//') ? wanted : '/'
}
