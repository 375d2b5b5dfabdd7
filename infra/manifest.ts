/**
 * What an installation is made of.
 */
import type { Value } from './helm/expression.ts'

/** An object of the Kubernetes API. */
export type Manifest = { apiVersion: string; kind: string; metadata: Record<string, unknown> & { name: string } } & Record<string, unknown>

/** A manifest of which Helm knows some of the values. */
export type LiveManifest = {
  apiVersion: string
  kind: Value<string>
  metadata: Record<string, unknown> & { name: Value<string> }
} & Record<string, unknown>
