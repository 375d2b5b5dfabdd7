/**
 * Gateway pods as charts and users write them, for injection, and the agent settings of an installation.
 */
import * as v from 'valibot'
import type { Pod } from '../../runtime/injection/pod.ts'
import { type ControllerSettings, controllerSettings, type ControllerSettingsInput } from '../../runtime/settings/controller.ts'

export type PodShape = {
  metadata: Record<string, unknown> & { annotations?: Record<string, string>; labels?: Record<string, string> }
  spec: Record<string, unknown> & { containers: Record<string, unknown>[]; initContainers?: Record<string, unknown>[] }
}

const restricted = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  seccompProfile: { type: 'RuntimeDefault' },
}

/** The gateway pod of the vendor's chart 0.2.1, with the parts relevant to injection. */
export function chartPod(annotations: Record<string, string> = {}): Pod & PodShape {
  const image = 'inductiveautomation/ignition:8.3.3'
  const resources = { requests: { cpu: '1', memory: '1536Mi' }, limits: { cpu: '1', memory: '1536Mi' } }
  return {
    metadata: {
      generateName: 'plant-gateway-',
      labels: { 'app.kubernetes.io/name': 'ignition', 'apps.kubernetes.io/pod-index': '0' },
      annotations: { 'clustersync.io/inject': 'true', ...annotations },
    },
    spec: {
      serviceAccountName: 'default',
      securityContext: { runAsUser: 2003, runAsGroup: 2003, fsGroup: 2003, runAsNonRoot: true },
      initContainers: [
        {
          name: 'preconfigure',
          image,
          command: ['sh', '-c', '/config/scripts/seed-data-volume.sh'],
          resources,
          securityContext: restricted,
          volumeMounts: [{ name: 'data', mountPath: '/data' }],
        },
      ],
      containers: [
        {
          name: 'gateway',
          image,
          args: ['-n', 'plant-$(GATEWAY_POD_INDEX)', '-a', 'plant.example', '--', '-Dignition.config.mode=$(DEPLOYMENT_MODE)'],
          env: [
            { name: 'SITE', value: 'north' },
            { name: 'DEPLOYMENT_MODE', value: '$(SITE)-prod' },
            { name: 'GATEWAY_POD_INDEX', valueFrom: { fieldRef: { fieldPath: "metadata.labels['apps.kubernetes.io/pod-index']" } } },
          ],
          ports: [
            { name: 'http', containerPort: 8088 },
            { name: 'https', containerPort: 8043 },
            { name: 'gan', containerPort: 8060 },
          ],
          resources,
          securityContext: restricted,
          volumeMounts: [{ name: 'data', mountPath: '/usr/local/bin/ignition/data' }],
        },
      ],
      volumes: [{ name: 'data', emptyDir: {} }],
    },
  }
}

/** The minimal gateway pod: no labels, no volumes, one container. */
export function barePod(annotations: Record<string, string> = {}): Pod & PodShape {
  return {
    metadata: { name: 'edge', annotations: { 'clustersync.io/inject': 'true', ...annotations } },
    spec: { containers: [{ name: 'gateway', image: 'example/gateway:1', securityContext: { ...restricted, runAsNonRoot: true } }] },
  }
}

/** The agent settings of an installation, with every default. */
export function agentSettings(given: ControllerSettingsInput['agent']): ControllerSettings['agent'] {
  return v.parse(controllerSettings.entries.agent, given)
}
