/**
 * An object of the Kubernetes API in tests.
 */
export type Manifest = { apiVersion: string; kind: string; metadata: Record<string, unknown> & { name: string } } & Record<string, unknown>
