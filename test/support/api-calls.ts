/**
 * The requests that a test's own control plane receives: each question to its authorizer, before RBAC answers it, and each refused call.
 * The audit log alone is not enough: it does not show that applying a missing object also needs `create`, or that writing a RoleBinding
 * needs `bind`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import path from 'node:path'
import type { Test } from 'tap'
import type { ControlPlaneOptions } from '../cluster/control-plane.ts'
import { temporaryFolder } from './repository.ts'

/** `resource` includes the subresource after a slash. */
export type Question =
  | { user: string; verb: string; group: string; resource: string; namespace: string; name: string }
  | { user: string; verb: string; url: string }

export type ApiCalls = {
  /** For the observed control plane. */
  plane: ControlPlaneOptions
  /** Each question once. */
  questions(): Question[]
  /** Successful calls of a ServiceAccount so far, as `verb /path`, in order; a watch counts from its start. */
  answered(user: string): string[]
  /** Calls of the given ServiceAccounts answered with 403, by RBAC or by admission, one line each. */
  refused(users: readonly string[]): string[]
}

type Review = {
  spec: {
    user?: string
    resourceAttributes?: {
      verb?: string
      group?: string
      resource?: string
      subresource?: string
      namespace?: string
      name?: string
    }
    nonResourceAttributes?: { verb?: string; path?: string }
  }
}
type AuditEvent = {
  stage: string
  user: { username: string }
  verb: string
  requestURI: string
  responseStatus?: { code?: number; message?: string }
}

const auditPolicy = {
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata', userGroups: ['system:serviceaccounts'] }, { level: 'None' }],
}

export async function recordApiCalls(t: Pick<Test, 'teardown'>): Promise<ApiCalls> {
  const folder = temporaryFolder(t, 'api-calls')
  const asked = new Map<string, Question>()
  const url = await serveAuthorizer(t, (question) => asked.set(JSON.stringify(question), question))
  const file = (name: string, content: object): string => {
    const full = path.join(folder, name)
    writeFileSync(full, JSON.stringify(content))
    return full
  }
  const auditLog = path.join(folder, 'audit.log')
  const kubeconfig = {
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'recorder', cluster: { server: url } }],
    contexts: [{ name: 'recorder', context: { cluster: 'recorder' } }],
    'current-context': 'recorder',
  }
  const events = (): AuditEvent[] => {
    const text = readFileSync(auditLog, 'utf8')
    // The last line may be incomplete.
    const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n')
    return lines.filter(Boolean).map((line) => JSON.parse(line) as AuditEvent)
  }
  return {
    plane: {
      shared: false,
      apiServerArgs: [
        // The recorder comes first and has no opinion, so it sees every question that RBAC answers.
        '--authorization-mode=Webhook,RBAC',
        '--authorization-webhook-version=v1',
        `--authorization-webhook-config-file=${file('authorizer.json', kubeconfig)}`,
        `--audit-policy-file=${file('audit-policy.json', auditPolicy)}`,
        `--audit-log-path=${auditLog}`,
      ],
    },
    questions: () => [...asked.values()],
    answered: (user) =>
      events()
        .filter(
          ({ stage, verb, user: { username } }) =>
            username === user && stage === (verb === 'watch' ? 'ResponseStarted' : 'ResponseComplete'),
        )
        .map(({ verb, requestURI }) => `${verb} ${requestURI.split('?')[0]}`),
    refused: (users) =>
      events()
        .filter(({ user, responseStatus }) => users.includes(user.username) && responseStatus?.code === 403)
        .map(({ user, verb, requestURI, responseStatus }) => `${user.username} ${verb} ${requestURI}: ${responseStatus?.message ?? ''}`),
  }
}

/** Starts an authorizer without an opinion; returns its address. */
async function serveAuthorizer(t: Pick<Test, 'teardown'>, heard: (question: Question) => void): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const review = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Review
      heard(questionOf(review))
      response.setHeader('content-type', 'application/json')
      response.end(JSON.stringify({ ...review, status: { allowed: false } }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/authorize`
}

function questionOf({ spec: { user = '', resourceAttributes: of, nonResourceAttributes } }: Review): Question {
  if (of === undefined) return { user, verb: nonResourceAttributes?.verb ?? '', url: nonResourceAttributes?.path ?? '' }
  const resource = of.subresource === undefined ? (of.resource ?? '') : `${of.resource}/${of.subresource}`
  return { user, verb: of.verb ?? '', group: of.group ?? '', resource, namespace: of.namespace ?? '', name: of.name ?? '' }
}
