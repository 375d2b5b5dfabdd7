/**
 * The installed product: the manifests of `infra/` on a real API server, the controller as a process with its own account, and gateway pods
 * with injected agents that run as processes.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import type { Test } from 'tap'
import { startSimulator, type Simulator, type SimulatorOptions } from '../../examples/simulator/simulator.ts'
import type { Manifest } from './manifest.ts'
import type { ValuesInput } from '../../infra/values.ts'
import { agentContainerName, apiVersion } from '../../runtime/api/names.ts'
import type { SyncReportStatus } from '../../runtime/api/schema/report.ts'
import type { GatewaySyncStatus } from '../../runtime/api/schema/status.ts'
import { gatewaySyncType, type KubeObject, leaseType, podType, syncReportType } from '../../runtime/kube/types.ts'
import { type ControllerSettingsInput, controllerSettingsVariable } from '../../runtime/settings/controller.ts'
import { startGitHost, type GitHost } from './git-host.ts'
import { deployed, type GatewayOptions, gatewayPod, onThisMachine, reachable } from './installed-objects.ts'
import { type PodObject, startContainer, writeDownward } from './kubelet.ts'
import { freePort, freePorts, type Ports } from './ports.ts'
import { presentRelease, type Release } from './releases.ts'
import { temporaryFolder } from './repository.ts'
import { openWorld, until, type World, type WorldOptions } from './world.ts'

/** A busy machine takes long to start a controller, and a controller without list permissions in a namespace waits deliberately. */
const readyWithinMs = 300_000

export type Installation = {
  world: World
  folder: string
  /** The installed manifests. */
  manifests: readonly Manifest[]
  /** The ports of the controller's endpoints. */
  ports: Ports
  host: GitHost
  /** Base URL of the webhook receiver, and the token that it accepts. */
  receiver: { url: string; token: string }
  /** The log lines of controller and agents. */
  logs: string[]
  /** The namespace of a prefix. */
  namespace(prefix: string): string
  /** Creates a GatewaySync; `gateway` is the port of the gateway, as agents reach it. */
  gatewaySync(namespace: string, name: string, spec: object, labels?: Record<string, string>): Promise<void>
  status(namespace: string, name: string): Promise<GatewaySyncStatus>
  report(namespace: string, pod: string): Promise<SyncReportStatus | undefined>
  /** Creates a gateway pod, and starts its agent once admission has injected it. */
  gateway(namespace: string, name: string, options: GatewayOptions): Promise<Gateway>
  /** Stops the controller like a kubelet; returns its exit code. */
  stopController(): Promise<number | null>
  controllerPid(): number
  startController(): Promise<void>
  /** Starts a second replica, which leads only after the first has stopped. */
  startStandby(): Promise<void>
  /** Starts a process of a replica, and resolves when it is ready. */
  startReplica(name: string, ports: Ports): Promise<ChildProcess>
  /** The holder of the Lease. */
  leader(): Promise<string | undefined>
  /** Assigns the Lease to a nonexistent holder for a second. */
  stealLease(): Promise<void>
  /** Replaces manifests and controller with those of another release, as an upgrade does; existing pods keep their agents. */
  change(release: Release, options?: { crds: boolean }): Promise<void>
}

/** `command` starts the controller, by default from the sources of the release. No Service sends it calls, so it stops without a delay. */
export type InstallOptions = WorldOptions & {
  command?: readonly string[]
  shutdownDelaySeconds?: number
  /** A second replica will run, and all agents connect to it. */
  agentsAskStandby?: boolean
  /**
   * Watches the whole cluster, which is the default of the product, on its own control plane. Otherwise watches the namespaces of the
   * prefixes.
   */
  wholeCluster?: boolean
  /** Parent of each replica's mirror folder: on disk for tests that measure memory, where files on tmpfs would count. */
  sourceParent?: string
  /** Existing namespaces to watch as well. */
  besides?: readonly string[]
  /** Changes the kubeconfig of controllers and agents, such as to route them through a proxy. By default they connect directly. */
  through?: (kubeconfig: string) => string
  /** A stand-in for the Service in front of the replicas; by default calls go to the first replica. */
  service?: { admission: number; delivery: number }
  /** The installed release; by default the product of this checkout. */
  release?: Release
}

export type Gateway = {
  pod: PodObject
  /** The local port where its agent answers probes and serves metrics. */
  agentPort: number
  /** Stops the agent like a kubelet; returns its exit code. */
  stop(): Promise<number | null>
  /** Starts it again in the same pod. */
  start(): Promise<void>
  /**
   * Changes labels or annotations of the pod, like `kubectl label` and `annotate`, and then acts as the kubelet. `meanwhile` runs in
   * between, because a kubelet takes up to a minute.
   */
  change(
    metadata: Partial<Record<'annotations' | 'labels', Record<string, string | null>>>,
    meanwhile?: () => Promise<unknown>,
  ): Promise<void>
}

/** Installs the product for some namespaces, one per prefix, on the control plane of the run or its own; each has an account `gateway`. */
export async function install(
  t: Pick<Test, 'teardown'>,
  prefixes: readonly string[],
  values: ValuesInput = {},
  {
    command,
    shutdownDelaySeconds = 0,
    agentsAskStandby = false,
    wholeCluster = false,
    besides = [],
    sourceParent,
    release = presentRelease,
    through = (kubeconfig) => kubeconfig,
    service,
    ...ownWorld
  }: InstallOptions = {},
): Promise<Installation> {
  const world = await openWorld(t, ownWorld)
  const { kube, plane, signal } = world
  const folder = temporaryFolder(t, 'installation')
  const host = await startGitHost(path.join(folder, 'git'))
  t.teardown(async () => host.stop())
  const namespace = await world.namespace('operator')
  const namespaces = new Map<string, string>()
  for (const prefix of prefixes) namespaces.set(prefix, await world.namespace(prefix, 'gateway'))
  const token = 'push-token-of-the-tests'
  const merged: ValuesInput = {
    ...values,
    // The git host of the tests is on this machine.
    source: { ...values.source, allowedAddresses: ['127.0.0.1'] },
    watchNamespaces: wholeCluster ? [] : [...namespaces.values(), ...besides],
    certManager: { enabled: false },
    webhookReceiver: { enabled: true, token: { secret: token }, ...values.webhookReceiver },
  }
  const [ports, standbyPorts] = [await freePorts(), await freePorts()]
  const tokenFile = path.join(folder, 'push-token')
  writeFileSync(tokenFile, `${token}\n`)
  const url = `https://localhost:${service?.delivery ?? (agentsAskStandby ? standbyPorts : ports).delivery}`
  /** Applies the manifests of a release, and returns how to start its programs. */
  const put = async (of: Release, { crds }: { crds: boolean }) => {
    const manifests = of.manifests({ name: namespace, namespace }, merged)
    if (crds) await world.apply(of.crds())
    await world.apply(manifests.map((manifest) => reachable(manifest, service?.admission ?? ports.admission)))
    const { account, settings, tracing } = deployed(manifests)
    const settingsFor = (own: Ports, name: string): Partial<ControllerSettingsInput> =>
      of.settings({
        ...onThisMachine(settings, path.join(sourceParent ?? folder, name), own, tokenFile),
        shutdownDelaySeconds,
        delivery: { url },
      })
    const kubeconfig = through(plane.kubeconfigFor(await world.token(namespace, account)))
    const programs = { controller: command ?? of.controller, agent: of.agent }
    return { manifests, fullname: settings.fullname, settingsFor, kubeconfig, tracing, ...programs }
  }
  let installed = await put(release, { crds: true })
  const logs: string[] = []
  const log = (line: string): void => void logs.push(line)
  let controller: ChildProcess | undefined

  const startReplica = async (name: string, own: Ports): Promise<ChildProcess> => {
    const env = {
      PATH: process.env['PATH'] ?? '',
      POD_NAME: name,
      POD_IP: '127.0.0.1',
      KUBECONFIG: installed.kubeconfig,
      [controllerSettingsVariable]: JSON.stringify(installed.settingsFor(own, name)),
      ...installed.tracing,
    }
    const [program = '', ...args] = installed.controller
    const child = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'] })
    t.teardown(async () => stopChild(child))
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => log(chunk.toString('utf8')))
    await until(
      async () => {
        if (child.exitCode !== null) throw new Error(`the controller ended with ${child.exitCode}:\n${logs.join('')}`)
        const answer = await fetch(`http://127.0.0.1:${own.probes}/readyz`).catch(() => undefined)
        return answer?.status === 200 ? true : undefined
      },
      'the controller is ready',
      readyWithinMs,
    )
    return child
  }
  const startController = async (): Promise<void> => {
    controller = await startReplica('controller-0', ports)
  }
  const holderOfLease = async (): Promise<string | undefined> => {
    const lease = await kube.get(leaseType, { namespace, name: installed.fullname }, signal)
    return lease?.spec?.holderIdentity
  }
  const stopController = async (): Promise<number | null> => (controller === undefined ? null : await stopChild(controller))
  await startController()

  return {
    world,
    folder,
    manifests: installed.manifests,
    ports,
    host,
    receiver: { url: `http://127.0.0.1:${ports.receiver}`, token },
    logs,
    startController,
    async startStandby() {
      await until(async () => ((await holderOfLease()) === 'controller-0' ? true : undefined), 'the first replica leads')
      await startReplica('controller-1', standbyPorts)
    },
    startReplica,
    leader: holderOfLease,
    async stealLease() {
      const stolen = { spec: { holderIdentity: 'nobody', leaseDurationSeconds: 1 } }
      await kube.mergePatch(leaseType, { namespace, name: installed.fullname }, stolen, {}, signal)
    },
    stopController,
    async change(other, options = { crds: true }) {
      await stopController()
      installed = await put(other, options)
      await startController()
    },
    controllerPid: () => controller?.pid ?? 0,
    namespace: (prefix) => namespaces.get(prefix) ?? '',
    async gatewaySync(namespace, name, spec, labels = {}) {
      await kube.create(gatewaySyncType, { apiVersion, kind: 'GatewaySync', metadata: { namespace, name, labels }, spec }, signal)
    },
    status: async (namespace, name) => (await kube.get(gatewaySyncType, { namespace, name }, signal))?.status ?? {},
    report: async (namespace, name) =>
      (await kube.get(syncReportType, { namespace, name }, signal))?.status as SyncReportStatus | undefined,
    async gateway(namespace, name, options) {
      const pod = (await kube.create(podType, gatewayPod(namespace, name, options), signal)) as KubeObject & PodObject
      const own = path.join(folder, `pod-${pod.metadata.uid}`)
      mkdirSync(own)
      const bound = { pod: { name, uid: pod.metadata.uid } }
      const agentPort = await freePort()
      const env = {
        KUBECONFIG: through(plane.kubeconfigFor(await world.token(namespace, options.account, bound))),
        CLUSTER_SYNC_PORT: String(agentPort),
      }
      const { agent: program } = installed
      const run = () =>
        startContainer({
          pod,
          container: agentContainerName,
          folder: own,
          volumes: { data: options.dataDir },
          token: (audience) => world.token(namespace, options.account, audience === undefined ? bound : { audience, ...bound }),
          clusterCa: readFileSync(plane.caFile, 'utf8'),
          env,
          command: program,
          log,
        })
      let agent = await run()
      t.teardown(async () => stopChild(agent))
      return {
        pod,
        agentPort,
        stop: () => stopChild(agent),
        async start() {
          agent = await run()
        },
        async change(metadata, meanwhile) {
          const after = (await kube.mergePatch(podType, { namespace, name }, { metadata }, {}, signal)) as KubeObject & PodObject
          await meanwhile?.()
          for (const { name: volume, downwardAPI } of after.spec.volumes ?? [])
            writeDownward(path.join(own, volume), after, downwardAPI?.items ?? [])
        },
      }
    },
  }
}

/** A simulated gateway with its own data directory. */
export async function simulatedGateway(
  t: Pick<Test, 'teardown'>,
  folder: string,
  name: string,
  options: Pick<SimulatorOptions, 'mode' | 'readsFiles'> = {},
): Promise<{ simulator: Simulator; dataDir: string; port: number }> {
  const dataDir = path.join(folder, `data-${name}`)
  mkdirSync(dataDir)
  const simulator = await startSimulator({ dataDir, name, ...options })
  t.teardown(async () => simulator.stop())
  return { simulator, dataDir, port: Number(new URL(simulator.url).port) }
}

async function stopChild(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)))
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), 15_000)
  const code = await ended
  clearTimeout(late)
  return code
}

/** Waits until the GatewaySync `plant` reports that its gateways run a commit; returns that status. */
export async function readyAt(cluster: Installation, namespace: string, commit: string, timeoutMs?: number) {
  return await until(
    async () => {
      const status = await cluster.status(namespace, 'plant')
      const condition = status.conditions?.find(({ type }) => type === 'Ready')
      return condition?.status === 'True' && condition.reason !== 'NoGateways' && status.published?.commit === commit ? status : undefined
    },
    `Ready at ${commit}`,
    timeoutMs,
  )
}
