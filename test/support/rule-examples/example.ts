/**
 * The types of a rule's example. Pure.
 */

/** Files by path; null: the file does not exist. */
export type ExampleFiles = Readonly<Record<string, string | null>>
/** `kind`: the root of the paths; collections by default. */
export type Example = { before: ExampleFiles; after: ExampleFiles; kind?: 'projects' }
