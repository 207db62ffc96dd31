import { hasEnded } from '../../domain/currency/validity'
import type { Entry, EntryPreview } from '../../domain/entry/entry'
import { titleOf } from '../../domain/entry/title'
import { invalidInput } from '../../domain/errors'
import { and, type Filter } from '../../domain/search/filter'
import { RESULT_BYTES } from '../../domain/search/window'
import { firstCodePoints, sha256Hex } from '../../domain/text'
import type { ToolContext } from '../context'
import { OWN_SKILL } from './own-skill'

/**
 * Approved procedures as skills (SEP-2640, platform contract §10).
 *
 * A skill is text that an agent follows. So only versions count that a person has approved, with any PACK_TRUST.
 */

const PAGE = 20
/** Characters of a name and of a description that Agent Skills allow; the description keeps space. */
const MAX_NAME = 64
const MAX_DESCRIPTION = 1_000

const PROCEDURES: Filter = and([{ op: 'kind', anyOf: ['procedure'] }, { op: 'approved' }])

export interface SkillFile {
  readonly name: string
  readonly description: string
  /** Members of `metadata` in the frontmatter; null without them. */
  readonly metadata: Readonly<Record<string, string>> | null
  /** The complete SKILL.md. */
  readonly text: string
}

/** Returns the name of a skill: words of its title, and its ID, which makes it unique. */
export function nameOf(title: string, id: number): string {
  const words = title
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
  const cut = words.slice(0, MAX_NAME - `-${id}`.length).replaceAll(/^-+|-+$/g, '')
  return `${cut || 'procedure'}-${id}`
}

/** Returns what a skill is for: its title and the beginning of its text, in one line. */
function descriptionOf(title: string, text: string): string {
  const start = text.replaceAll(/^[#>*\s-]+/g, '').replaceAll(/\s+/g, ' ')
  const line = start.startsWith(title) ? start : `${title}. ${start}`
  return firstCodePoints(line.replaceAll(/[\s\p{Cc}]+/gu, ' ').trim(), MAX_DESCRIPTION)
}

function fileOf(entry: Entry): SkillFile {
  const title = titleOf(entry)
  const name = nameOf(title, entry.id)
  const description = descriptionOf(title, entry.text)
  const metadata = {
    ...{ id: String(entry.id), version: String(entry.version) },
    ...(entry.project === null ? {} : { project: entry.project }),
  }
  // A JSON string is a string of YAML too.
  const lines = Object.entries(metadata).map(([key, value]) => `  ${key}: ${JSON.stringify(value)}`)
  const head = [`name: ${name}`, `description: ${JSON.stringify(description)}`, 'metadata:', ...lines]
  return { name, description, metadata, text: ['---', ...head, '---', '', entry.text].join('\n') }
}

const OWN: SkillFile = { ...OWN_SKILL, metadata: null }

export const uriOf = (name: string): string => `skill://${name}/SKILL.md`

/** Reads the name in the address of a skill; null for any other address. */
const nameIn = (uri: string): string | null => /^skill:\/\/([a-z0-9-]{1,64})\/SKILL\.md$/.exec(uri)?.[1] ?? null

/** Returns the entry of a skill in `skills/list`: its file with size and digest. */
export async function skillEntry({ name, description, metadata, text }: SkillFile) {
  const bytes = new TextEncoder().encode(text)
  const uri = uriOf(name)
  return {
    uri,
    frontmatter: { name, description, ...(metadata === null ? {} : { metadata }) },
    resources: [{ uri, digest: `sha256:${await sha256Hex(bytes)}`, size: bytes.length }],
  }
}

/** Returns the procedures that are current: not ended, and replaced by no memory that a person has approved. */
async function current({ services, principal }: ToolContext, found: readonly EntryPreview[]): Promise<number[]> {
  const successors = found.flatMap(({ supersededBy }) => (supersededBy === undefined ? [] : [supersededBy]))
  // A memory that waits for approval replaces no approved one.
  const approved =
    successors.length === 0 ? [] : await services.entries.previews(principal, { op: 'approved' }, successors, 1)
  const replaced = new Set(approved.map(({ id }) => id))
  const now = services.now()
  return found
    .filter(({ metadata, supersededBy, captured }) => {
      const isReplaced = supersededBy !== undefined && replaced.has(supersededBy)
      return !captured && !isReplaced && !hasEnded(metadata, now)
    })
    .map(({ id }) => id)
}

/** A position in the list, newest first: entries up to this second, without the first ones of it. */
interface Place {
  readonly second: number
  readonly skip: number
}

/** @throws Problem invalid_input */
function placeIn(cursor: string): Place {
  const [, second, skip] = /^(\d{1,13})-(\d{1,7})$/.exec(cursor) ?? []
  if (second === undefined || skip === undefined)
    throw invalidInput('Invalid cursor: use the nextCursor of the previous page, or none for the first page')
  return { second: Number(second), skip: Number(skip) }
}

const secondOf = ({ createdAt }: EntryPreview): number => Math.floor(createdAt / 1000)

/** Returns the place after an entry of a page. */
function placeAfter(page: readonly EntryPreview[], last: EntryPreview, from: Place | null): string {
  const second = secondOf(last)
  const before = page.slice(0, page.indexOf(last) + 1).filter((one) => secondOf(one) === second).length
  return `${second}-${before + (from?.second === second ? from.skip : 0)}`
}

/**
 * Lists skills, newest first. A page has fewer than 20 if the texts are long or some procedures are outdated.
 *
 * @param offersOwn whether the server's own skill is listed first
 * @throws Problem invalid_input for an invalid cursor
 */
export async function listSkills(context: ToolContext, cursor: string | undefined, offersOwn: boolean) {
  const { services, principal } = context
  const from = cursor === undefined ? null : placeIn(cursor)
  const filter = from === null ? PROCEDURES : and([PROCEDURES, { op: 'created', from: null, to: from.second }])
  const window = { limit: PAGE + 1, offset: from?.skip ?? 0, previewLength: 1 }
  const { entries: found } = await services.entries.page(principal, filter, window)
  const page = found.slice(0, PAGE)
  const { entries, omitted } = await services.entries.readWithin(principal, await current(context, page), RESULT_BYTES)
  const cut = page.findIndex(({ id }) => omitted.includes(id))
  const last = cut > 0 ? page[cut - 1] : page.at(-1)
  const hasMore = cut > 0 || found.length > PAGE
  const files = [...(offersOwn && from === null ? [OWN] : []), ...entries.map(fileOf)]
  return {
    skills: await Promise.all(files.map(skillEntry)),
    ...(hasMore && last !== undefined ? { nextCursor: placeAfter(page, last, from) } : {}),
  }
}

/** Reads a skill by the address of its SKILL.md; null if none is served there. */
export async function readSkill(context: ToolContext, uri: string, offersOwn: boolean): Promise<SkillFile | null> {
  const name = nameIn(uri)
  if (name === OWN.name) return offersOwn ? OWN : null
  const id = Number(/-(\d{1,15})$/.exec(name ?? '')?.[1] ?? 0)
  if (id === 0) return null
  const { services, principal } = context
  const previews = await services.entries.previews(principal, PROCEDURES, [id], 1)
  const [entry] = await services.entries.read(principal, await current(context, previews))
  const file = entry === undefined ? null : fileOf(entry)
  return file?.name === name ? file : null
}
