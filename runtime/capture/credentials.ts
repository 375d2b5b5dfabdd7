/**
 * Finds the credentials in plain text that changes of a gateway would bring into the repository, whatever profile, collection or mode the files
 * belong to. Pure.
 */
import { isDeepStrictEqual } from 'node:util'
import { plainPlaces } from '../collections/rules/about-secrets.ts'
import { foldName } from '../gatewaysync/values.ts'
import { isObject, jsonOrUndefined } from '../json.ts'

/** A file as it would be committed: where it stands on the gateway, and what it holds. */
type Held = { path: string; content: Uint8Array | undefined }

/** The places of plain credentials that `content` holds and `before`, the same file of the parent, does not. Never a value. */
export function newCredentials({ path, content }: Held, before: Uint8Array | undefined): string[] {
  const names = path.split('/')
  const file = names.at(-1) ?? ''
  // Below config/resources a collection stands before the resource, below projects the project.
  const key = foldName(names.slice(names[0] === 'config' ? 3 : 2, -1).join('/'))
  const now = jsonOf(content)
  return now === undefined ? [] : plainPlaces(partsNotIn(now, jsonOf(before)), key, file)
}

function jsonOf(content: Uint8Array | undefined): unknown {
  return content === undefined
    ? undefined
    : jsonOrUndefined(
        Buffer.from(content)
          .toString('utf8')
          .replace(/^\uFEFF/, ''),
      )
}

/** What of a value another one does not hold at the same place. */
function partsNotIn(value: unknown, other: unknown): unknown {
  if (!isObject(value) || !isObject(other)) return isDeepStrictEqual(value, other) ? undefined : value
  const isKept = ([name, member]: [string, unknown]): boolean => !Object.hasOwn(other, name) || !isDeepStrictEqual(member, other[name])
  return Object.fromEntries(
    Object.entries(value)
      .filter(isKept)
      .map(([name, member]) => [name, Object.hasOwn(other, name) ? partsNotIn(member, other[name]) : member]),
  )
}
