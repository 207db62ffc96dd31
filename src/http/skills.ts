import { ProtocolError, ProtocolErrorCode, type Server } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { validUntil } from '../domain/currency/validity'
import type { Entry } from '../domain/entry/entry'
import { titleOf } from '../domain/entry/title'
import { and, type Filter } from '../domain/search/filter'
import { RESULT_BYTES } from '../domain/search/window'
import { cutShort } from '../domain/text'
import type { ToolContext } from '../tools/context'
import { OWN_SKILL } from './own-skill'

/**
 * Skills over MCP (SEP-2640): memories of kind `procedure` whose current version a person has approved, and how to use this memory. A
 * skill is an instruction, so nothing that only an agent wrote is served, whatever PACK_TRUST is.
 */

/** The extension in the capabilities of the server. */
export const SKILLS_CAPABILITY = { extensions: { 'io.modelcontextprotocol/skills': {} } } as const

const PAGE = 20
const BASE = 'skill://'
const FILE = 'SKILL.md'
/** The limits of the format (agentskills.io): 64 characters of a name, 1,024 of a description. */
const NAME_CHARACTERS = 64
const DESCRIPTION_CHARACTERS = 1_000

const PROCEDURES: Filter = and([{ op: 'kind', anyOf: ['procedure'] }, { op: 'approved' }])

/** A file `SKILL.md` with its folder. */
interface SkillFile {
  readonly name: string
  readonly text: string
}

/** The address of a skill's file. */
const uriOf = ({ name }: SkillFile): string => `${BASE}${name}/${FILE}`

/** The name of a memory's skill: words of its title in a–z and digits, then its ID, which makes the name unique. */
function nameOf(entry: Entry): string {
  const words = titleOf(entry)
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}/gu, '')
    .replace(/[^a-z0-9]+/g, '-')
  const end = `-${entry.id}`
  const start = words.slice(0, NAME_CHARACTERS - end.length).replace(/^-+|-+$/g, '')
  return `${start === '' ? 'memory' : start}${end}`
}

/** A string in YAML: JSON strings are a part of YAML's double-quoted ones. */
const quoted = (text: string): string => JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029\ufeff]/g, ' ')

const oneLine = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\s]+/gu, ' ').trim()

function fileOf(entry: Entry): SkillFile {
  const title = oneLine(titleOf(entry))
  const [first = ''] = entry.text
    .split(/\n\s*\n/)
    .map(oneLine)
    .filter((part) => part !== '' && part !== title)
  const description = cutShort(first === '' ? title : `${title}. ${first}`, DESCRIPTION_CHARACTERS)
  const name = nameOf(entry)
  const about = {
    memory: String(entry.id),
    version: String(entry.version),
    ...(entry.project === null ? {} : { project: entry.project }),
  }
  const metadata = Object.entries(about).map(([key, value]) => `  ${key}: ${quoted(value)}`)
  const head = ['---', `name: ${name}`, `description: ${quoted(description)}`, 'metadata:', ...metadata, '---']
  return { name, text: `${head.join('\n')}\n\n# ${title}\n\n${entry.text.trimEnd()}\n` }
}

/**
 * Returns the memories that are skills now: not archived, waiting for review, past their validity or replaced.
 *
 * With PACK_TRUST=approved, a memory that waits for approval replaces no approved one, as in packs.
 */
async function served({ services, principal, config }: ToolContext, entries: readonly Entry[]): Promise<Entry[]> {
  const successors = entries.flatMap(({ supersededBy }) => supersededBy ?? [])
  const replacing = new Set(successors)
  if (config.packTrust === 'approved' && successors.length > 0) {
    const approved = await services.entries.previews(principal, { op: 'approved' }, successors, 1)
    replacing.clear()
    for (const { id } of approved) replacing.add(id)
  }
  const now = services.now()
  return entries.filter((entry) => {
    const end = validUntil(entry.metadata)
    const isReplaced = entry.supersededBy !== undefined && replacing.has(entry.supersededBy)
    const isCurrent = !isReplaced && !entry.archived && !entry.captured && (end === null || end > now)
    return entry.kind === 'procedure' && entry.approved && isCurrent
  })
}

/** A position in the list, newest first: memories up to this second, without the first ones of it. */
interface Place {
  readonly second: number
  readonly skip: number
}

function placeIn(cursor: string): Place {
  const [, second, skip] = /^(\d{1,13})-(\d{1,7})$/.exec(cursor) ?? []
  if (second === undefined || skip === undefined)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'cursor is not one of skills/list')
  return { second: Number(second), skip: Number(skip) }
}

const secondOf = ({ createdAt }: Pick<Entry, 'createdAt'>): number => Math.floor(createdAt / 1000)

/** Returns the place after a page, which memories stored meanwhile do not move. */
function placeAfter(page: readonly Entry[], from: Place | null): string | null {
  const last = page.at(-1)
  if (last === undefined) return null
  const second = secondOf(last)
  const skip = page.filter((entry) => secondOf(entry) === second).length
  return `${second}-${skip + (from?.second === second ? from.skip : 0)}`
}

/** The skills of a page, and the cursor of the next one. The first page begins with the own skill. */
async function pageOf(context: ToolContext, cursor: string | undefined) {
  const { services, principal } = context
  const from = cursor === undefined ? null : placeIn(cursor)
  const filter = from === null ? PROCEDURES : and([PROCEDURES, { op: 'created', from: null, to: from.second }])
  const window = { limit: PAGE + 1, offset: from?.skip ?? 0, previewLength: 1 }
  const { entries: found } = await services.entries.page(principal, filter, window)
  const ids = found.slice(0, PAGE).map(({ id }) => id)
  const { entries, omitted } = await services.entries.readWithin(principal, ids, RESULT_BYTES)
  // The next page begins with the first memory that did not fit.
  const cut = ids.findIndex((id) => omitted.includes(id))
  const page = found.slice(0, cut < 0 ? PAGE : cut)
  const files = (await served(context, entries)).map(fileOf)
  return {
    files: from === null ? [OWN_SKILL, ...files] : files,
    next: page.length < found.length ? placeAfter(page, from) : null,
  }
}

/** The file at an address; null where none is served to this caller. */
export async function skillAt(context: ToolContext, uri: string): Promise<SkillFile | null> {
  if (uri === uriOf(OWN_SKILL)) return OWN_SKILL
  const [, id = ''] = /^skill:\/\/[a-z0-9-]{1,64}-(\d{1,15})\/SKILL\.md$/.exec(uri) ?? []
  if (id === '') return null
  const { services, principal } = context
  const { entries } = await services.entries.readWithin(principal, [Number(id)], RESULT_BYTES)
  const [entry] = await served(context, entries)
  const file = entry === undefined ? null : fileOf(entry)
  // After a change of the title, the skill has another address.
  return file !== null && uriOf(file) === uri ? file : null
}

/** Builds the entry of a file: frontmatter, size and SHA-256. The library is loaded when a client first asks. */
async function entryOf({ name, text }: SkillFile) {
  const { skillEntry } = await import('./skill-entry')
  return skillEntry(name, { [FILE]: text })
}

/** Entries may change at any moment and differ between keys. */
const CACHE = { ttlMs: 0, cacheScope: 'private' as const }

/** Runs a request as its caller. */
type Answering = <T>(method: string, asked: unknown, answer: (context: ToolContext) => Promise<T>) => Promise<T>

/** Registers `skills/list` and `skills/get`. Files are read with `resources/read`. */
export function offerSkills(server: Server, answering: Answering): void {
  server.setRequestHandler('skills/list', { params: z.looseObject({ cursor: z.string().optional() }) }, (params) =>
    answering('skills/list', params, async (context) => {
      const { files, next } = await pageOf(context, params.cursor)
      // One memory that the format does not accept must not hide the others.
      const skills = await Promise.all(files.map((file) => entryOf(file).catch(() => null)))
      return {
        skills: skills.filter((skill) => skill !== null),
        ...(next === null ? {} : { nextCursor: next }),
        ...CACHE,
      }
    }),
  )
  server.setRequestHandler('skills/get', { params: z.looseObject({ uri: z.string().max(2_000) }) }, (params) =>
    answering('skills/get', params.uri, async (context) => {
      const file = await skillAt(context, params.uri)
      if (file === null) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `No such skill: ${params.uri}`)
      return { skill: await entryOf(file), ...CACHE }
    }),
  )
}
