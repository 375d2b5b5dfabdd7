/**
 * Checks the language of docs, command line help and status page: `node scripts/prose.ts [pages]`. Exit code 1 if there is a problem.
 */
import { glob, readFile } from 'node:fs/promises'
import { createProgram } from '../runtime/cli/program/program.ts'
import { acceptedTexts } from '../runtime/statuspage/locales/texts.ts'
import { checkText } from './prose/check-text.ts'
import { textsOfCommand, textsOfPage, textsOfRecord } from './prose/texts.ts'

const given = process.argv.slice(2)
const pages = given.length > 0 ? given : await Array.fromAsync(glob(['*.md', 'docs/**/*.md', 'infra/*.md', 'examples/**/*.md']))

const ofPages = await Promise.all(pages.toSorted().map(async (page) => textsOfPage(page, await readFile(page, 'utf8'))))
const ofPrograms = given.length > 0 ? [] : [textsOfCommand(createProgram()), textsOfRecord('status page', acceptedTexts('en'))]
const problems = [...ofPages, ...ofPrograms].flat().flatMap(checkText)
for (const { place, line, message } of problems) process.stdout.write(`${place}:${line}: ${message}\n`)
if (problems.length > 0) process.exitCode = 1
