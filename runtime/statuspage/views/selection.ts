/**
 * Selects the part of a fleet to show: search words, only problems, and one page of many. Pure.
 */
import type { ClusterSync, ClusterView, FleetView, GatewayView, SyncView } from '../../fleet/view.ts'
import { acceptedTexts } from '../locales/texts.ts'

/** `query`: words that must all occur; `page` counts from 1. */
export type Selection = { query: string; trouble: boolean; page: number }

/** A GatewaySync with its shown gateways. */
export type Shown = { sync: SyncView; gateways: GatewayView[] }

/** `matches`: the number of selected gateways on all pages. */
export type Selected = { shown: Shown[]; matches: number; page: number; pages: number }

/** Few enough for a phone. */
export const gatewaysPerPage = 200
const maxQueryLength = 200

/** Parses the query of the address; ignores invalid values. */
export function parseSelection(query: (name: string) => string | undefined): Selection {
  const page = Number(query('page'))
  return {
    query: (query('q') ?? '').slice(0, maxQueryLength).trim(),
    trouble: query('show') === 'trouble',
    page: Number.isSafeInteger(page) && page > 0 ? page : 1,
  }
}

/** The query part of a link to a page of this selection; `''` for everything. */
export function queryOf({ query, trouble }: Selection, page = 1): string {
  const parts = new URLSearchParams()
  if (query !== '') parts.set('q', query)
  if (trouble) parts.set('show', 'trouble')
  if (page > 1) parts.set('page', String(page))
  return parts.size === 0 ? '' : `?${parts.toString()}`
}

/**
 * A gateway matches if the words occur in its texts or in those of its GatewaySync; a GatewaySync without gateways is matched alone. Pages are filled
 * with gateways, so a GatewaySync may span several; a page beyond the end shows the last one.
 */
export function select({ syncs }: Pick<FleetView, 'syncs'>, selection: Selection): Selected {
  const words = selection.query.toLowerCase().split(/\s+/).filter(Boolean)
  const matching = syncs.flatMap((sync): Shown[] => {
    if (selection.trouble && sync.level === 'ok') return []
    const ofSync = textOfSync(sync)
    // Its reason may describe some of its gateways, and not each.
    const itself = `${ofSync} ${sync.reason.toLowerCase()}`
    const candidates = sync.gateways.filter(({ level }) => !selection.trouble || level !== 'ok')
    const gateways = candidates.filter((gateway) => {
      const text = `${ofSync} ${textOfGateway(gateway)}`
      return words.every((word) => text.includes(word))
    })
    const isFoundItself = words.every((word) => itself.includes(word))
    if (gateways.length > 0) return [{ sync, gateways }]
    return isFoundItself ? [{ sync, gateways: candidates }] : []
  })
  // A GatewaySync without gateways takes a place too; otherwise a thousand of them would fill one page.
  const sizes = matching.map(({ gateways }) => Math.max(1, gateways.length))
  const total = sizes.reduce((sum, size) => sum + size, 0)
  const pages = Math.max(1, Math.ceil(total / gatewaysPerPage))
  const page = Math.min(selection.page, pages)
  return { shown: slice(matching, (page - 1) * gatewaysPerPage), matches: total, page, pages }
}

/** The clusters with a match, each with its matching GatewaySyncs; for problems only, also those that cannot be read. */
export function selectClusters(clusters: readonly ClusterView[], { query, trouble }: Selection): ClusterView[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean)
  return clusters.flatMap((cluster) => {
    const name = cluster.name.toLowerCase()
    const syncs = cluster.syncs.filter((sync) => {
      const text = `${name} ${textOfClusterSync(sync)}`
      return !(trouble && sync.level === 'ok') && words.every((word) => text.includes(word))
    })
    const isFoundItself = words.every((word) => name.includes(word)) && (!trouble || cluster.level !== 'ok')
    return syncs.length > 0 || isFoundItself ? [{ ...cluster, syncs }] : []
  })
}

function slice(matching: readonly Shown[], from: number): Shown[] {
  const result: Shown[] = []
  let at = 0
  for (const { sync, gateways } of matching) {
    const size = Math.max(1, gateways.length)
    const [start, end] = [Math.max(0, from - at), Math.min(size, from + gatewaysPerPage - at)]
    if (start < end) result.push({ sync, gateways: gateways.slice(start, end) })
    at += size
  }
  return result
}

/** The names of a state in each language: users search for the text that a tile shows, such as "fehlgeschlagen". */
const languages = [acceptedTexts('en'), acceptedTexts('de')]

function textOfClusterSync({ namespace, name, level, reason, published }: ClusterSync): string {
  const shown = languages.map(({ levels }) => levels[level])
  return [namespace, name, published?.commit, published?.ref, reason, ...shown].join(' ').toLowerCase()
}

function textOfSync({ namespace, name, level, published, desired }: SyncView): string {
  const shown = languages.map(({ levels }) => levels[level])
  return [namespace, name, published?.commit, desired.ref, ...shown].join(' ').toLowerCase()
}

function textOfGateway({ pod, gateway, state, mode, profile, reason, commit }: GatewayView): string {
  const shown = languages.map(({ states }) => states[state])
  return [pod, gateway, state, mode, profile, reason, commit, ...shown].join(' ').toLowerCase()
}
