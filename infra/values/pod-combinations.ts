/**
 * Which values of the controller's pod do not go together. Pure.
 */
import { podAnnotations } from '../../runtime/gatewaysync/names.ts'
import { and, asText, earlier, equals, greater, hasKey, includes, isSet, not, or, plucked, text } from '../helm/combinators.ts'
import type { Live } from '../helm/expression.ts'
import { each, field, type Messages, say } from '../helm/nodes.ts'
import type { Values } from '../values.ts'
import { openPorts } from './open-ports.ts'
import { ownFolders, ownVolumes } from '../constructs/volumes.ts'

/** Values of the pod that cannot work together, each with the message that names the keys. */
export function impossiblePod(values: Live<Values>): Messages {
  return [
    ...missingAccount(values),
    ...agentOfItsOwn(values),
    ...portsOfHost(values),
    ...twoVolumes(values),
    ...impossibleVolumes(values),
    ...impossibleMounts(values),
  ]
}

function missingAccount({ serviceAccount: { create, name } }: Live<Values>): Messages {
  return say(and(not(create), not(isSet(name))), [
    'serviceAccount.name: name the account that is there already, because serviceAccount.create is false',
  ])
}

/** The API server would ask the controller about the controller's own pod, which could never start again. */
function agentOfItsOwn(values: Live<Values>): Messages {
  return (['podAnnotations', 'commonAnnotations'] as const).flatMap((key) =>
    say(hasKey(values[key], podAnnotations.inject), [`${key}: ${podAnnotations.inject} is for gateway pods; the controller gets no agent`]),
  )
}

/** Kubernetes does not allow the sysctl that opens these ports to a pod in the host's network. */
function portsOfHost(values: Live<Values>): Messages {
  return openPorts(values).flatMap(({ key, isOpen, port }) =>
    say(and(values.hostNetwork, isOpen, greater(1024, port)), [
      text`${key}: port ${asText(port)} is below 1024, where with hostNetwork only root may listen`,
    ]),
  )
}

function twoVolumes({ source: { storage, persistence } }: Live<Values>): Messages {
  return say(and(persistence.enabled, isSet(storage.existingClaim)), [
    'source.storage.existingClaim: source.persistence.enabled makes claims of its own; leave one of them out',
  ])
}

function impossibleVolumes({ extraVolumes }: Live<Values>): Messages {
  const names = plucked(extraVolumes, 'name')
  return each('volumeName', names, (name, index) => {
    const where = text`extraVolumes.${asText(index)}.name`
    const isOwn = or(...ownVolumes.map((own) => equals(name, own)))
    return [
      ...say(isOwn, [text`${where}: ${name} is a volume of the manifests themselves`]),
      ...say(and(not(isOwn), includes(earlier(names, index), name)), [text`${where}: ${name} is there twice`]),
    ]
  }).flat()
}

function impossibleMounts({ extraVolumes, extraVolumeMounts }: Live<Values>): Messages {
  const names = plucked(extraVolumes, 'name')
  const paths = plucked(extraVolumeMounts, 'mountPath')
  return each('mounted', extraVolumeMounts, (mount, index) => {
    const where = text`extraVolumeMounts.${asText(index)}`
    const path = field(mount, 'mountPath')
    const isOwn = or(...ownFolders.map((own) => equals(path, own)))
    return [
      ...say(not(includes(names, field(mount, 'name'))), [text`${where}.name: ${field(mount, 'name')} is none of extraVolumes`]),
      ...say(isOwn, [text`${where}.mountPath: ${path} is a folder of the manifests themselves`]),
      ...say(and(not(isOwn), includes(earlier(paths, index), path)), [text`${where}.mountPath: ${path} is there twice`]),
    ]
  }).flat()
}
