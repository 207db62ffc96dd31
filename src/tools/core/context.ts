import * as z from 'zod'
import { drawEntries, leftOffText, type StartEntry, type StartMemories } from '../../domain/capture/recall-text'
import { titleOf } from '../../domain/entry/title'
import type { PackItem } from '../../domain/pack/pack'
import type { PackArguments } from '../../domain/pack/pack-request'
import { checkGoal, MAX_GOAL } from '../../domain/pack/pack-request'
import { codePointLength, firstCodePoints, trim, WHITE_SPACE_RUN } from '../../domain/text'
import { formatSecond, type Millis } from '../../domain/time'
import type { RankedResult } from '../../services/searching/ranked/ranked-page'
import type { CallContext } from '../context'
import { defineTool } from '../define-tool'
import { listOf, output, part, strings } from '../fields'
import { soundArguments } from '../parse-arguments'
import { namedProject } from '../project'
import { core, inCoreWords } from './family'
import {
  charactersOf,
  fields,
  filterOf,
  inProject,
  instantOf,
  kindOf,
  lean,
  loadsTimes,
  memoryOutput,
  shortenedTo,
  shownMemory,
  unknownProject,
} from './vocabulary'

const input = z.strictObject({
  goal: z.string().optional().meta({ description: 'What you are about to do' }),
  project: fields.project,
  kind: fields.kinds,
  since: fields.since,
  captured: fields.captured,
  limit: z.int().optional().meta({ description: '≤ 50; default 12' }),
  max_tokens: z.int().optional().meta({ description: 'Default 2,500' }),
})
type Arguments = z.output<typeof input>

/** Tokens of the compiled pack per token of the answer: its items are shortened here. */
const PACK_TOKENS = 2
const START_CONTENT = 320
const LEFT_OFF = 1_200
/** Project names that an answer without a project lists. */
const PROJECTS = 20

interface Section {
  readonly title: string
  readonly memories: Record<string, unknown>[]
}

/** An item of a list, with its position in its section. */
interface Placed {
  readonly section: string
  readonly shown: Record<string, unknown>
  readonly place: number
}

/** Fits items into a number of characters; the last items of the list are dropped first. */
function fitting(items: readonly Placed[], most: number) {
  const sections = new Map<string, Placed[]>()
  let left = most
  let dropped = 0
  for (const item of items) {
    const { section, shown } = item
    const size = JSON.stringify(shown).length + 1 + (sections.has(section) ? 0 : section.length + 30)
    if (size > left && sections.size > 0) {
      dropped++
      continue
    }
    left -= size
    sections.set(section, [...(sections.get(section) ?? []), item])
  }
  const shownOf = (own: readonly Placed[]) => own.toSorted((a, b) => a.place - b.place).map(({ shown }) => shown)
  return { sections: [...sections].map(([title, own]): Section => ({ title, memories: shownOf(own) })), dropped }
}

const shownItem = ({ id, type, name, content, reason, quality, metadata, related }: PackItem) =>
  lean({
    id: Number(id),
    title: name,
    kind: type,
    project: quality.project_id,
    status: metadata.status,
    by: metadata.agent,
    at: quality.created_at === null ? null : `${quality.created_at.slice(0, 19)}Z`,
    valid_from: quality.valid_at,
    valid_until: metadata.valid_until,
    why: reason,
    captured: metadata.captured,
    imported: metadata.imported,
    approved: metadata.approved,
    replaces: numbers(metadata.supersedes),
    conflicts_with: numbers(metadata.conflicts_with),
    later: typeof metadata.later === 'string' ? Number(metadata.later) : null,
    content,
    total_chars: metadata.total_chars,
    related: related.map(({ id: other, name: title, relationship }) => ({
      id: Number(other),
      title,
      relation: relationship,
    })),
  })

const numbers = (given: unknown): number[] => (Array.isArray(given) ? given.map(Number) : [])

const REST = 'fetch reads the rest of memories with total_chars.'

/** Captured sessions that a pack contains, and characters of the excerpt of each. */
const OWN = { most: 3, excerpt: 2_000, least: 400 } as const
const OWN_SECTION = 'Your sessions, not approved yet'
const ONLY_OWN = 'No approved memory clearly fits, but some of your sessions that await approval do.'

/**
 * Returns the owner's captured sessions that contain words of the goal; none if the call excludes them or packs contain only
 * approved memories.
 */
async function ownFor({ services, principal, config }: CallContext, goal: string, args: Arguments, most: number) {
  const kinds = (args.kind ?? []).map((word) => kindOf(word))
  const isWanted = args.captured !== 'exclude' && (kinds.length === 0 || kinds.includes('session'))
  if (!isWanted || config.packTrust === 'approved') return []
  const filter = filterOf({ since: args.since }, services.now())
  const scope = inProject(principal, args.project)
  const request = { query: goal, filter, limit: OWN.most, excerpt: OWN.excerpt }
  const found = await services.capture.own.holding(scope, request)
  // A small budget shows only the best session.
  return found.slice(0, Math.max(1, Math.floor((most * 0.3) / OWN.least)))
}

/** Fits sessions into a number of characters, which they share equally. */
function shownOwn(own: readonly RankedResult[], budget: number) {
  const items = own.map(({ entry, excerpt }, place) => {
    const head = shownMemory(entry)
    const part = Math.floor(budget / own.length) - JSON.stringify(head).length - 60
    const content = shortenedTo(excerpt ?? '', Math.max(60, Math.min(OWN.excerpt, part)))
    const isPart = codePointLength(content) < entry.chars
    return { section: OWN_SECTION, shown: { ...head, content, ...(isPart ? { total_chars: entry.chars } : {}) }, place }
  })
  return fitting(items, budget).sections
}

/** The pack that this tool asks for. */
export const packArguments = (
  goal: string,
  { kind = [], since, project, limit, max_tokens }: Omit<Arguments, 'captured'>,
  now: Millis,
): PackArguments => ({
  ...{ goal, intent: 'general', layer: 'recall', project, limit, includeRelated: false, relatedLimit: 0 },
  kinds: kind.map((word) => kindOf(word)),
  since: since === undefined ? undefined : instantOf(since, 'since', now),
  maxTokens: Math.min(32_000, Math.ceil((PACK_TOKENS * charactersOf(max_tokens)) / 4)),
})

/** Compiles the pack for a goal: memories, then the owner's captured sessions. */
async function packFor(call: CallContext, goal: string, args: Arguments, most: number) {
  const { services, principal } = call
  const owned = ownFor(call, goal, args, most)
  if (args.captured === 'only') {
    const sections = shownOwn(await owned, most - 500)
    return lean({
      sections,
      hint: sections.length === 0 ? 'None of your captured sessions contains words of this goal.' : REST,
    })
  }
  const { project } = args
  const packed = services.packs.context(principal, packArguments(goal, args, services.now()))
  const [pack, own] = await Promise.all([packed, owned])
  const items = pack.sections
    .flatMap(({ title, items: own }) => own.map((item, place) => ({ section: title, item, place })))
    .sort((a, b) => b.item.score - a.item.score)
    .map(({ section, item, place }) => ({ section, shown: shownItem(item), place }))
  // Memories come first; sessions get the remaining space, and a reserved part.
  const { sections, dropped } = fitting(items, most - 500 - own.length * OWN.least)
  const left = most - 500 - JSON.stringify(sections).length
  const { limit: beyond, budget, superseded } = pack.diagnostics.omitted
  const omitted = beyond + budget + dropped
  const projects = pack.sections.flatMap((section) => section.items.map(({ quality }) => quality.project_id))
  const unknown = await unknownProject(call, project, [...projects, ...own.map(({ entry }) => entry.project)])
  const isDoubtful = /^Noth/.test(pack.usage_hint)
  const hasParts = items.some(({ shown }) => shown.total_chars !== undefined)
  return lean({
    sections: own.length === 0 ? sections : [...sections, ...shownOwn(own, left)],
    hint: isDoubtful ? (own.length > 0 ? ONLY_OWN : inCoreWords(pack.usage_hint)) : hasParts ? REST : null,
    omitted: omitted === 0 ? null : `${omitted} more fit the goal. Raise limit or max_tokens, or call search`,
    superseded: superseded === 0 ? null : superseded,
    warnings: [...(pack.diagnostics.degraded ? ['Semantic search failed; results match words only'] : []), ...unknown],
  })
}

/** Returns the title and preview of an entry at the start of a session. */
function shownEntry({ id, title, text, kind, agent, createdAt, note }: StartEntry): Record<string, unknown> {
  const plain = trim(text.replace(WHITE_SPACE_RUN, ' '))
  const content = firstCodePoints(plain, START_CONTENT)
  return lean({
    ...{ id, title: titleOf({ title, text }).slice(0, 120), kind, by: agent, at: formatSecond(createdAt) },
    content: content.length < plain.length ? `${content}…` : content,
    note,
  })
}

/** Compiles the start of a session: rules, open work, newest decisions and gotchas, and where this owner left off. */
async function startFor({ services, principal }: CallContext, args: Arguments, most: number) {
  const { project, kind = [], since, limit } = args
  const named = namedProject(principal, project)
  const own = named ?? (principal.projects?.length === 1 ? (principal.projects[0] as string) : null)
  const [found, projects] = await Promise.all([
    services.capture.standing(principal, { project: own, branch: null }),
    own === null ? services.projects.list(principal) : [],
  ])
  const kinds = new Set<string>(kind.map((word) => kindOf(word)))
  const from = since === undefined ? null : instantOf(since, 'since', services.now())
  const isWanted = (entry: StartEntry): boolean =>
    (kinds.size === 0 || kinds.has(entry.kind)) && (from === null || entry.createdAt >= from)
  const facets = Object.fromEntries(
    Object.entries(found.facets).map(([facet, entries]) => [facet, entries.filter(isWanted)]),
  ) as unknown as StartMemories['facets']
  const { leftOff, before = [] } = found
  const last = leftOff === null ? null : { id: leftOff.id, content: leftOffText(leftOff.text, before, LEFT_OFF) }
  const budget = most - 500 - JSON.stringify(last).length
  const chosen = drawEntries(facets, budget, (entry) => JSON.stringify(shownEntry(entry)).length + 1)
  const shown = chosen
    .slice(0, limit)
    .map(({ facet, entry }, place) => ({ section: facet as string, shown: shownEntry(entry), place }))
  const { sections } = fitting(shown, budget)
  const known = projects.filter(({ entries }) => entries > 0)
  const isEmpty = sections.length === 0 && last === null
  const isFiltered = kinds.size > 0 || from !== null
  const unknown = isEmpty ? await unknownProject({ services, principal }, project, []) : []
  return lean({
    sections,
    where_you_left_off: last,
    projects: known.slice(0, PROJECTS).map(({ key }) => key),
    hint:
      known.length > 0
        ? `${isEmpty ? '' : 'These memories belong to no project. '}Call context with your project, and with a goal.`
        : isEmpty && isFiltered
          ? 'No rules, decisions, gotchas or open work match kind and since. Call search, or context with a goal.'
          : isEmpty
            ? 'No rules, decisions, gotchas or open work are stored here yet. Call remember to store what others should know.'
            : 'Call context with a goal for the memories that matter to it.',
    warnings: unknown,
  })
}

export const context = defineTool({
  family: core,
  name: 'context',
  title: 'Context',
  description:
    'Call first. Returns memories for your goal; without goal: rules, open tasks, newest decisions, where you left off.',
  example: { goal: 'make refunds safe to retry', project: 'ferry' },
  promise: 'CORE-7',
  budget: { tokens: 210, trips: 5, reads: [5_800, 18_080], writes: 3 },
  input,
  output: output({
    sections: listOf(
      part('Section', { title: z.string(), memories: listOf(part('Memory', memoryOutput), 'Best first') }),
      'Best first',
    ),
    where_you_left_off: part('Newest session', { id: z.int(), content: z.string() }),
    hint: z.string(),
    warnings: strings('Warning'),
  }),
  loads: loadsTimes,
  inspect: (args, { principal }) => {
    const { project, kind = [] } = soundArguments(input, args)
    namedProject(principal, project)
    for (const word of kind) kindOf(word)
  },
  async handler(call, args) {
    const most = charactersOf(args.max_tokens)
    const goal = trim(args.goal ?? '')
    if (goal === '') return startFor(call, args, most)
    if (codePointLength(goal) > MAX_GOAL) checkGoal(goal)
    return packFor(call, goal, args, most)
  },
})
