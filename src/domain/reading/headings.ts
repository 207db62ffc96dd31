import { parser } from '@lezer/markdown'
import { STEP, type Steps } from '../scheduler'
import { firstCodePoints, WHITE_SPACE_RUN } from '../text'

/** Maximum length of a title. A setext heading can be a paragraph, and IDs are made of titles. */
const MAX_TITLE = 160
/** Maximum length of a heading's source: parsing inline markup takes quadratic time. */
const MAX_SOURCE = 1000

/** Names of the parser's nodes for markup. */
const MARKUP = new Set([
  ...[
    'HeaderMark',
    'EmphasisMark',
    'CodeMark',
    'LinkMark',
    'LinkTitle',
    'LinkLabel',
    'HardBreak',
    'HTMLTag',
    'Comment',
  ],
  ...['ProcessingInstruction', 'URL'],
])

const ENTITIES = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' }))

/** Decodes an entity; an uncommon one remains unchanged. */
function decoded(entity: string): string {
  const number = /^&#(?:x([\da-f]+)|(\d+));$/i.exec(entity)
  if (!number) return ENTITIES.get(entity.slice(1, -1)) ?? entity
  const code = number[1] === undefined ? Number(number[2]) : Number.parseInt(number[1], 16)
  return code === 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ? '\ufffd' : String.fromCodePoint(code)
}

function withoutMarkup(source: string): string {
  let text = ''
  let at = 0
  const keep = (upTo: number) => {
    text += source.slice(at, Math.max(at, upTo))
  }
  parser.parse(source).iterate({
    enter({ name, from, to, node }) {
      const isAddress = name === 'URL' && node.parent?.name === 'Autolink'
      const isEscape = name === 'Escape'
      const isEntity = name === 'Entity'
      if (!isEscape && !isEntity && (isAddress || !MARKUP.has(name))) return
      keep(from)
      if (isEscape) text += source.slice(from + 1, to)
      if (isEntity) text += decoded(source.slice(from, to))
      // A line break separates words.
      if (name === 'HardBreak') text += ' '
      at = Math.max(at, to)
    },
  })
  keep(source.length)
  return text
}

/** The plain text of a heading. @param source the heading as written, with its markup */
function headingTitle(source: string): string {
  const start = firstCodePoints(source, MAX_SOURCE)
  // Most headings are one line without markup.
  const plain = /^#{1,6}[ \t]+([^\\`*_[\]<>&#\n]*)$/.exec(start)?.[1]
  const text = (plain ?? withoutMarkup(start)).replace(WHITE_SPACE_RUN, ' ').trim()
  const title = firstCodePoints(text, MAX_TITLE)
  return title.length < text.length ? `${title}…` : title
}

/** A heading of a Markdown text. Positions are UTF-16 units. */
export interface Heading {
  readonly level: number
  readonly title: string
  /** The start of its line. */
  readonly start: number
}

/** Parses blocks only: inline markup takes quadratic time and contains no headings. */
const blocks = parser.configure({
  remove: ['Escape', 'Entity', 'InlineCode', 'HTMLTag', 'Emphasis', 'HardBreak', 'Link', 'Image', 'LinkEnd'],
})

/** Small blocks and headings cost the parser this many times their length. */
const COST = 3
/**
 * Length after which the syntax tree is processed at the next top-level block and a new one begins, to limit memory and
 * time.
 */
const TREE = 65_536
/** Maximum number of headings, to limit memory. */
const MAX_HEADINGS = 100_000
/** Maximum nesting of quotes and lists on one line. Deeper ones contain no headings, and each line costs its depth. */
const MAX_NESTING = 100

const DEEP_LINE = new RegExp(
  `^((?:[ \\t]*(?:>|[-+*](?=[ \\t])|\\d{1,9}[.)](?=[ \\t]))){${MAX_NESTING}})([^\\n]*)$`,
  'gm',
)

/** The text with unchanged offsets, with line ends that the parser knows and without too deep nesting. */
function prepared(text: string): string {
  const lines = text.includes('\r') ? text.replace(/\r(\n?)/g, (_, feed) => (feed ? ' \n' : '\n')) : text
  return lines.replace(DEEP_LINE, (_, markers: string, rest: string) => markers + 'x'.repeat(rest.length))
}

/** The offset after YAML front matter (from a first line `---` to the next one); 0 without it. */
function afterFrontMatter(text: string): number {
  const matter = /^---[ \t]*\n(?:[\s\S]*?\n)??---[ \t]*(?:\n|$)/.exec(text)
  return matter ? matter[0].length : 0
}

/** The headings of a document in order (ATX and setext, CommonMark), without those in code, HTML, quotes or lists. */
export function* readHeadings(text: string): Steps<Heading[]> {
  const source = prepared(text)
  const headings: Heading[] = []
  let paused = 0
  for (let from = afterFrontMatter(source); from < source.length && headings.length < MAX_HEADINGS; ) {
    const part = from === 0 ? source : source.slice(from)
    const parse = blocks.startParse(part)
    let tree = parse.advance()
    while (tree === null) {
      if (from + parse.parsedPos - paused >= STEP) {
        yield (from + parse.parsedPos - paused) * COST
        paused = from + parse.parsedPos
      }
      const nothingOpen = (parse as { depth?: number }).depth === 1
      if (parse.stoppedAt === null && nothingOpen && parse.parsedPos >= TREE) parse.stopAt(parse.parsedPos - 1)
      tree = parse.advance()
    }
    for (let node = tree.topNode.firstChild; node; node = node.nextSibling) {
      const level = /^(?:ATX|Setext)Heading(\d)$/.exec(node.name)?.[1]
      if (level === undefined) continue
      const start = from + part.lastIndexOf('\n', node.from) + 1
      headings.push({ level: Number(level), title: headingTitle(part.slice(node.from, node.to)), start })
      if (headings.length % 100 === 0) yield STEP
    }
    if (parse.stoppedAt === null) break
    from += parse.parsedPos
  }
  return headings
}
