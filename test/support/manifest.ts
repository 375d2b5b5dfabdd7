/**
 * An object of the Kubernetes API, as tests read it.
 */
export type Manifest = { apiVersion: string; kind: string; metadata: Record<string, unknown> & { name: string } } & Record<string, unknown>
