import { firstCodePoints, trim, WHITE_SPACE_RUN } from '../text'
import type { Omitted, Pack, PackItem, PackRelated, PackSection } from './pack'

/** Renders a pack as Markdown for a prompt. Stored text is untrusted, so it always remains inside its quotation. */
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/
/** Characters that change the direction of text, and so the appearance of the text next to them. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/g
/**
 * Starts of lines with a meaning in Markdown: headings, quotes, tables, list items, fences, rules, underlines of
 * headings, definitions. Other markup (`8.2`, `**bold**`, `code`) remains unchanged, so that it can be read and copied.
 */
const BEGINNINGS = [
  '[#>|]',
  '[-+*:](?=\\s|$)',
  '\\d{1,9}[.)](?=\\s|$)',
  '`(?=``)',
  '~(?=~~)',
  '[-=_*](?=[-=_* \\t]*$)',
  ':(?=[:-])',
  '\\[(?=[^\\]]*\\]:)',
]
const MEANS_SOMETHING = new RegExp(`^(\\s{0,3})(${BEGINNINGS.join('|')})`)
/** A `<` that can start HTML. It becomes an entity, because text before it could escape a backslash. */
const TAG_START = /<(?=[a-zA-Z/!?])/g
/** Maximum characters of the goal, and maximum fraction of a small pack. */
const GOAL = { most: 300, share: 1 / 8 } as const

/** Escapes a line of stored text so that it starts no Markdown block. */
function harmless(line: string): string {
  const plain = line.replace(TURNS, '').replace(TAG_START, '&lt;').replaceAll('![', '!\\[')
  return plain.replace(MEANS_SOMETHING, (_, space: string, mark: string) =>
    /\d/.test(mark) ? `${space}${mark.slice(0, -1)}\\${mark.at(-1)}` : `${space}\\${mark}`,
  )
}

/** Escapes stored text for use inside a line. */
export const inline = (text: string): string =>
  text
    .replace(LINE_BREAKS, ' ')
    .replace(WHITE_SPACE_RUN, ' ')
    .replace(TURNS, '')
    .replace(TAG_START, '&lt;')
    .replaceAll('![', '!\\[')
const LINE_BREAKS = /[\n\v\f\r\u0085\u2028\u2029]/g

/** Stored text as a quotation: each line starts with `>`. */
export const quoted = (text: string): string =>
  text
    .split(LINE_BREAK)
    .map((line) => (trim(line) === '' ? '>' : `> ${harmless(line)}`))
    .join('\n')

const linkText = ({ id, name, relationship, direction, distance }: PackRelated): string => {
  const arrow = direction === 'outgoing' ? `${relationship} → ` : `${relationship} ← `
  return `${arrow}[${id}] ${inline(name)}${distance > 1 ? ` (${distance} steps)` : ''}`
}

const idsText = (label: string, ids: unknown): string[] =>
  Array.isArray(ids) && ids.length > 0 ? [`${label} ${ids.map((id) => `[${id}]`).join(', ')}`] : []

/** Whether a name only repeats the start of the content, as for a note without a title. */
function repeats(name: string, content: string): boolean {
  const plain = (text: string) => trim(text.replace(WHITE_SPACE_RUN, ' '))
  const said = plain(name.endsWith('…') ? name.slice(0, -1) : name)
  return said !== '' && plain(firstCodePoints(content, name.length * 2 + 200)).startsWith(said)
}

/** A name without leading Markdown markers, for entries without a title. */
const withoutMarks = (name: string): string => name.replace(/^(?:#{1,6}\s+|[-+*>]\s+)+/, '')

/** @param withContent whether the content is quoted below the facts */
export function itemMarkdown(item: PackItem, withContent: boolean): string {
  const { id, type, name, content, reason, quality, metadata, related } = item
  const heading = withContent && repeats(name, content) ? '' : ` ${inline(withoutMarks(name))}`
  const linked = [...idsText('supersedes', metadata.supersedes), ...idsText('conflicts with', metadata.conflicts_with)]
  const facts = [
    type,
    ...(typeof metadata.status === 'string' ? [inline(metadata.status)] : []),
    ...(quality.created_at === null ? [] : [quality.created_at.slice(0, 10)]),
    inline(reason),
    ...linked.filter((text) => !inline(reason).includes(text)),
  ]
  const links = related.length === 0 ? '' : `\nLinks: ${related.map(linkText).join('; ')}`
  return `### [${id}]${heading}\n${facts.join(' · ')}${links}\n${withContent && content !== '' ? `\n${quoted(content)}\n` : ''}`
}

const sectionMarkdown = ({ title, items }: PackSection, withContent: boolean): string =>
  `## ${title}\n\n${items.map((item) => itemMarkdown(item, withContent)).join('\n')}`

function omittedText({ limit, budget, duplicate, superseded }: Omitted): string {
  const parts = [
    ...(limit > 0 ? [`${limit} beyond the limit`] : []),
    ...(budget > 0 ? [`${budget} beyond the token budget`] : []),
    ...(duplicate > 0 ? [`${duplicate} near-duplicate${duplicate === 1 ? '' : 's'}`] : []),
    ...(superseded > 0 ? [`${superseded} superseded`] : []),
  ]
  return `Left out: ${parts.length === 0 ? 'nothing' : parts.join(', ')}.`
}

type Described = Pick<Pack, 'goal' | 'intent' | 'layer' | 'project' | 'domain' | 'sections'> & {
  /** Lines for its head (`packNotes`). */
  readonly said: readonly string[]
}

/**
 * The text above and below the sections.
 * @param most maximum characters of the pack
 */
export function frame(described: Omit<Described, 'sections'>, omitted: Omitted, most: number) {
  const { goal, intent, layer, project, domain, said } = described
  const shown = firstCodePoints(goal, Math.min(GOAL.most, Math.floor(most * GOAL.share)))
  const facts = [
    `intent ${intent}`,
    `layer ${layer}`,
    ...(project === null ? [] : [`project ${inline(project)}`]),
    ...(domain === null ? [] : [`domain ${inline(domain)}`]),
  ]
  return {
    head:
      `# Context pack\n\nGoal: ${inline(shown)}${shown.length < goal.length ? '…' : ''}\n${facts.join(' · ')}\n` +
      (said.length === 0 ? '' : `\n${said.join('\n')}\n`),
    foot: `${omittedText(omitted)}\n`,
  }
}

/**
 * The pack as Markdown, cut at the end if it is too long.
 * @param withContent whether contents are quoted; tool results contain them in their sections
 */
export function packMarkdown(pack: Described, omitted: Omitted, most: number, withContent = false): string {
  const { head, foot } = frame(pack, omitted, most)
  const text = [head, ...pack.sections.map((section) => sectionMarkdown(section, withContent)), foot].join('\n')
  return text.length <= most ? text : firstCodePoints(text, most).slice(0, most)
}
