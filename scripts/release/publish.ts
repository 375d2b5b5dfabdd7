/**
 * Pushes the images and the chart of a release to a registry, with the logins of buildah and Helm.
 */
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { version } from '../../runtime/platform/version.ts'
import { type Image, imagesIn, pushImage } from './images.ts'
import { chartFile } from './packages.ts'
import { run } from './run.ts'

/** Returns the images. Throws if the manifests name others. */
export function publish(folder: string, repository: string): readonly Image[] {
  const images = imagesIn(folder, repository)
  const manifests = readFileSync(path.join(folder, 'operator.k8s.yaml'), 'utf8')
  for (const { program, repository: place, digest } of images)
    if (program !== 'cli' && !manifests.includes(`${place}:${version}@${digest}`))
      throw new Error(`operator.k8s.yaml does not name ${place}:${version}@${digest}; create the release again with the same --repository`)
  // A registry on this machine has no certificate.
  const isHere = /^(?:127\.0\.0\.1|localhost)[:/]/.test(repository)
  for (const image of images) pushImage(image, isHere ? ['--tls-verify=false'] : [])
  run('helm', ['push', path.join(folder, chartFile), `oci://${repository}/charts`, ...(isHere ? ['--plain-http'] : [])])
  return images
}
