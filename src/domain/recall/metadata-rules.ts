import { checkTags } from '../entry/draft'
import { type JsonObject, type JsonValue, type Metadata, own } from '../entry/metadata'
import type { Inspection } from '../flaws'

/** What may stand under the keys of metadata that fabric knows (fabric contract §4): types and ranges. */

export const MEMORY_SOURCES = ['user_explicit', 'ai_inferred', 'system_auto'] as const

export type MemorySource = (typeof MEMORY_SOURCES)[number]

export const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const isLine = (value: JsonValue | undefined): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1

export type Rule = (value: JsonValue) => string | null

const aString: Rule = (value) => (typeof value === 'string' ? null : 'must be a string')

/** The members of an object: the required ones, and those that may be left out. */
const members =
  (required: Readonly<Record<string, Rule>>, optional: Readonly<Record<string, Rule>>): Rule =>
  (value) => {
    if (!isObject(value)) return 'must be an object'
    for (const [key, rule] of Object.entries({ ...required, ...optional })) {
      const member = own(value, key)
      if (member === undefined) {
        if (Object.hasOwn(required, key)) return `must have ${key}`
        continue
      }
      const flaw = rule(member)
      if (flaw !== null) return `.${key} ${flaw}`
    }
    return null
  }

const aLine: Rule = (value) => (isLine(value) ? null : 'must be a line number from 1')

export const RULES: Readonly<Record<string, Rule>> = {
  tags: (value) =>
    Array.isArray(value) && value.every((tag) => typeof tag === 'string') ? null : 'must be a list of strings',
  title: aString,
  confidence: (value) =>
    typeof value === 'number' && value >= 0 && value <= 1 ? null : 'must be a number from 0 to 1',
  source: (value) =>
    MEMORY_SOURCES.some((known) => known === value) ? null : `must be one of: ${MEMORY_SOURCES.join(', ')}`,
  projectPath: aString,
  cliType: aString,
  weight: (value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= 1 && value <= 5
      ? null
      : 'must be a whole number from 1 to 5',
  pinned: (value) => (typeof value === 'boolean' ? null : 'must be true or false'),
  fileContext: members({ path: aString }, { lineStart: aLine, lineEnd: aLine, language: aString }),
  codeBlock: members({ code: aString, language: aString }, { filePath: aString }),
}

export const isKnownKey = (key: string): boolean => Object.hasOwn(RULES, key)

/** Notes every known key whose value is of another type or out of range. A null is a key to be removed. */
export function checkMemoryMetadata(metadata: Metadata, wrong: Inspection, mayRemove: boolean): void {
  for (const [key, rule] of Object.entries(RULES)) {
    const value = own(metadata, key)
    if (value === undefined || (mayRemove && value === null)) continue
    const flaw = rule(value)
    if (flaw !== null)
      wrong.refuse(`metadata.${key}`, value, `metadata.${key}${flaw.startsWith('.') ? '' : ' '}${flaw}`)
  }
  if (Array.isArray(metadata.tags) && metadata.tags.every((tag) => typeof tag === 'string'))
    wrong.check('metadata.tags', metadata.tags, () => checkTags(metadata.tags as string[]))
}
