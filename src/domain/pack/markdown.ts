import { firstCodePoints, trim, WHITE_SPACE_RUN } from '../text'
import type { Omitted, Pack, PackItem, PackRelated, PackSection } from './pack'

/** A pack as text to be put into a prompt. Stored text is data: whatever it holds, it stays in its quote. */
const LINE_BREAK = /\r\n|[\n\v\f\r\u0085\u2028\u2029]/
/** Marks that turn the direction of text around, and so the look of what stands beside it. */
const TURNS = /[\u202a-\u202e\u2066-\u2069]/g
/**
 * Beginnings of lines that mean something to Markdown: headings, quotes, tables, items of lists, fences, rules and underlines of headings,
 * definitions. Marks that begin nothing (`8.2`, `**bold**`, `code`) stay as they are, so that they can be read and copied.
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
/** A `<` that can begin HTML; an escape with a backslash could itself be escaped by what stands before it. */
const TAG_START = /<(?=[a-zA-Z/!?])/g
/** Characters of the goal, and of a small pack at most this share of it: whoever asked knows the goal. */
const GOAL = { most: 300, share: 1 / 8 } as const

/** One line of stored text, without the power to begin anything. */
function harmless(line: string): string {
  const plain = line.replace(TURNS, '').replace(TAG_START, '&lt;').replaceAll('![', '!\\[')
  return plain.replace(MEANS_SOMETHING, (_, space: string, mark: string) =>
    /\d/.test(mark) ? `${space}${mark.slice(0, -1)}\\${mark.at(-1)}` : `${space}\\${mark}`,
  )
}

/** Stored text inside a line of ours. */
export const inline = (text: string): string =>
  text
    .replace(LINE_BREAKS, ' ')
    .replace(WHITE_SPACE_RUN, ' ')
    .replace(TURNS, '')
    .replace(TAG_START, '&lt;')
    .replaceAll('![', '!\\[')
const LINE_BREAKS = /[\n\v\f\r\u0085\u2028\u2029]/g

/** Stored text as a quote: each of its lines begins with `>`. */
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

/** Whether a name says nothing that the content does not begin with: of a note without a title its first words are the name. */
function repeats(name: string, content: string): boolean {
  const plain = (text: string) => trim(text.replace(WHITE_SPACE_RUN, ' '))
  const said = plain(name.endsWith('…') ? name.slice(0, -1) : name)
  return said !== '' && plain(firstCodePoints(content, name.length * 2 + 200)).startsWith(said)
}

/** Of a text without a title the first words are its name, with the marks that they begin with. */
const withoutMarks = (name: string): string => name.replace(/^(?:#{1,6}\s+|[-+*>]\s+)+/, '')

/** @param withContent whether the content is quoted below the facts */
export function itemMarkdown(item: PackItem, withContent: boolean): string {
  const { id, type, name, content, reason, quality, metadata, related } = item
  const heading = withContent && repeats(name, content) ? '' : ` ${inline(withoutMarks(name))}`
  const facts = [
    type,
    ...(typeof metadata.status === 'string' ? [inline(metadata.status)] : []),
    ...(quality.created_at === null ? [] : [quality.created_at.slice(0, 10)]),
    inline(reason),
    ...idsText('supersedes', metadata.supersedes),
    ...idsText('conflicts with', metadata.conflicts_with),
  ]
  const links = related.length === 0 ? '' : `\nLinks: ${related.map(linkText).join('; ')}`
  return `### [${id}]${heading}\n${facts.join(' · ')}${links}\n${withContent && content !== '' ? `\n${quoted(content)}\n` : ''}`
}

const sectionMarkdown = ({ title, items }: PackSection, withContent: boolean): string =>
  `## ${title}\n\n${items.map((item) => itemMarkdown(item, withContent)).join('\n')}`

function omittedText({ limit, budget, duplicate, superseded }: Omitted): string {
  const parts = [
    ...(limit > 0 ? [`${limit} beyond the limit`] : []),
    ...(budget > 0 ? [`${budget} for want of room`] : []),
    ...(duplicate > 0 ? [`${duplicate} near-duplicate${duplicate === 1 ? '' : 's'}`] : []),
    ...(superseded > 0 ? [`${superseded} superseded`] : []),
  ]
  return `Left out: ${parts.length === 0 ? 'nothing' : parts.join(', ')}.`
}

type Described = Pick<Pack, 'goal' | 'intent' | 'layer' | 'project' | 'domain' | 'sections'> & {
  /** Lines for its head (`saidOfPack`). */
  readonly said: readonly string[]
}

/**
 * What stands above and below the sections.
 *
 * @param most characters of the whole pack
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
 * The pack as Markdown, cut at the end where it is too long.
 *
 * @param withContent whether contents are quoted: results of tools have them in their sections
 */
export function packMarkdown(pack: Described, omitted: Omitted, most: number, withContent = false): string {
  const { head, foot } = frame(pack, omitted, most)
  const text = [head, ...pack.sections.map((section) => sectionMarkdown(section, withContent)), foot].join('\n')
  return text.length <= most ? text : firstCodePoints(text, most).slice(0, most)
}
