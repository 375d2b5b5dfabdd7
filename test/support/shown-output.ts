/**
 * Compares the output of a command with a page of the docs, except for names, hashes and times of one run. With `CLUSTER_SYNC_WRITE_DOCS=1`
 * the page is updated from this run instead.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { docsPage } from '../../runtime/platform/version.ts'

const docs = path.resolve(import.meta.dirname, '../../docs')

/** `output` is on the page in the block after `<!-- shown:name -->`. A line `…` there is in place of any number of lines. */
export function shown(t: Pick<Test, 'equal'>, page: string, name: string, output: string): void {
  const file = path.join(docs, page)
  const text = readFileSync(file, 'utf8')
  const block = new RegExp(`(<!-- shown:${name} -->\\n\\n\`\`\`text\\n)(.*?)(\`\`\`\\n)`, 's')
  const [, , printed] = block.exec(text) ?? []
  if (printed === undefined) throw new Error(`docs/${page} shows no output "${name}"`)
  const parts = printed.split('\n…\n').map(ofAnyRun)
  if (process.env['CLUSTER_SYNC_WRITE_DOCS'] === '1' && parts.length === 1) {
    const kept = withoutSuffixes(output)
    writeFileSync(
      file,
      text.replace(block, (_, before: string, _old: string, after: string) => `${before}${kept}${after}`),
    )
    return
  }
  const whole = ofAnyRun(output)
  t.equal(whole, consistsOf(whole, parts) ? whole : ofAnyRun(printed), `docs/${page} shows "${name}" as it is printed`)
}

/** Whether the text begins and ends with the first and the last part, with the others between them in this order. */
function consistsOf(text: string, [first = '', ...others]: readonly string[]): boolean {
  const last = others.pop()
  if (last === undefined) return text === first
  if (!text.startsWith(first)) return false
  const end = others.reduce((at, part) => {
    const found = at < 0 ? -1 : text.indexOf(part, at)
    return found < 0 ? -1 : found + part.length
  }, first.length)
  return end >= 0 && text.length - last.length >= end && text.endsWith(last)
}

/** Replaces the project's home and the names of one run: local hosts and ports, and namespaces with a unique suffix. */
export function withoutSuffixes(output: string): string {
  return output
    .replaceAll(docsPage('docs/'), 'docs/')
    .replace(/https?:\/\/(?:localhost|127\.0\.0\.1):[0-9]+\/plant\.git\/\.git/g, 'https://git.example/plant.git')
    .replace(/https:\/\/127\.0\.0\.1:[0-9]+/g, 'https://api.example:6443')
    .replace(/https:\/\/localhost:[0-9]+/g, 'https://cluster-sync-operator-delivery.cluster-sync.svc:9445')
    .replace(/\boperator-[0-9a-f]{8}(\/operator-[0-9a-f]{8}-)?/g, (_, workload?: string) =>
      workload === undefined ? 'cluster-sync' : 'cluster-sync/',
    )
    .replace(/\bplant-[0-9a-f]{8}( {2})?/g, (_, gap?: string) => (gap === undefined ? 'plant' : `plant${' '.repeat(11)}`))
}

/** Line breaks depend on the length of names. */
export function ofAnyRun(output: string): string {
  return withoutSuffixes(output)
    .replace(/\b\d\d:\d\d:\d\d\b/g, '<time>')
    .replace(/\b[0-9]+(?:\.[0-9])?\s+m?s\b/g, '<time>')
    .replace(/\b(?:[0-9a-f]{8}|[0-9a-f]{40})\b/g, '<commit>')
    .replace(/\b[0-9]+(?:\.[0-9])?[smhd]\b/g, '<time>')
    .replace(/\b[0-9]+ days?\b/g, '<time>')
    .replace(/\s+/g, ' ')
}
