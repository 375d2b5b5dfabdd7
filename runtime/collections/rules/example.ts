/**
 * What an example of a rule is made of. Pure.
 */

/** Files by path; null: there is no such file. */
export type ExampleFiles = Readonly<Record<string, string | null>>
/** `kind`: what the paths are relative to; collections, where it is not said. */
export type Example = { before: ExampleFiles; after: ExampleFiles; kind?: 'projects' }
