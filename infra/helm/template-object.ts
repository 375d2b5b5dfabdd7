/**
 * Objects of the API of which Helm knows some of the values. They stand in the tree of constructs as others do, and go into the templates
 * of the chart instead of being synthesised.
 */
import { ApiObject } from 'cdk8s'
import type { Construct } from 'constructs'
import type { Expression } from './expression.ts'
import { Conditional } from './nodes.ts'

/** An object of the chart: written as template text instead of YAML. */
export class TemplateObject extends ApiObject {
  /** A manifest with expressions and markers in it, or one that is repeated. */
  readonly template: unknown
  /** The object is there where all of them hold. */
  readonly conditions: readonly Expression<boolean>[]

  constructor(scope: Construct, id: string, template: unknown, conditions: readonly Expression<boolean>[]) {
    super(scope, id, { apiVersion: 'v1', kind: 'Template' })
    this.template = template
    this.conditions = conditions
  }
}

/** Objects as the emitter takes them: those that stand together and depend on the same condition are in one. */
export function documentsOf(objects: readonly TemplateObject[], depth = 0): unknown[] {
  const documents: unknown[] = []
  for (let from = 0; from < objects.length;) {
    const condition = objects[from]?.conditions[depth]
    let to = from + 1
    while (to < objects.length && objects[to]?.conditions[depth]?.text === condition?.text) to += 1
    const together = objects.slice(from, to)
    if (condition === undefined) documents.push(...together.map(({ template }) => template))
    else documents.push(new Conditional(condition, documentsOf(together, depth + 1)))
    from = to
  }
  return documents
}
