/**
 * How the artifacts of a release were made, as in-toto statements with SLSA provenance: https://slsa.dev/spec/v1.0/provenance. Nothing signs
 * them here; the release workflow signs statements of its own. Pure.
 */

type Digests = { sha256: string } | { gitCommit: string }
export type Artifact = { name: string; digest: Digests }

export type Making = {
  /** The repository, and where its page describes the making of a release. */
  home: string
  commit: string
  /** The sources differ from the commit. */
  hasChanges: boolean
  version: string
  base: string
  platforms: readonly string[]
  /** The identity of the machine or service. */
  builder: string
}

/** One statement for each artifact, one a line. */
export function provenanceOf(artifacts: readonly Artifact[], making: Making): string {
  const predicate = predicateOf(making)
  return artifacts
    .map((artifact) => ({
      _type: 'https://in-toto.io/Statement/v1',
      subject: [artifact],
      predicateType: 'https://slsa.dev/provenance/v1',
      predicate,
    }))
    .map((statement) => `${JSON.stringify(statement)}\n`)
    .join('')
}

function predicateOf({ home, commit, hasChanges, version, base, platforms, builder }: Making): object {
  const [, sha256] = /@sha256:([0-9a-f]{64})$/.exec(base) ?? []
  return {
    buildDefinition: {
      buildType: `${home}/blob/${commit}/scripts/release/main.ts`,
      externalParameters: { version, base, platforms },
      resolvedDependencies: [
        { uri: `git+${home}`, digest: { gitCommit: commit }, ...(hasChanges ? { annotations: { uncommittedChanges: true } } : {}) },
        { uri: `docker://${base}`, ...(sha256 === undefined ? {} : { digest: { sha256 } }) },
      ],
    },
    runDetails: { builder: { id: builder } },
  }
}
