import { parser } from '@lezer/markdown'
import { firstCodePoints, WHITE_SPACE_RUN } from '../text'

/** A title is no longer; a setext heading may be a whole paragraph, and ids are made of titles. */
const MAX_TITLE = 160
/** So much of a heading is looked at; markup inside a paragraph costs the parser the square of its length. */
const MAX_SOURCE = 1000

/** Nodes that are markup, as the parser calls them. */
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

/** The character an entity stands for; one that is not among the few of everyday use stays as it is written. */
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
      // Where a line is broken, words stay apart.
      if (name === 'HardBreak') text += ' '
      at = Math.max(at, to)
    },
  })
  keep(source.length)
  return text
}

/** @param source a heading as it is written, with its marks */
export function headingTitle(source: string): string {
  const start = firstCodePoints(source, MAX_SOURCE)
  // Most headings are a line of plain words.
  const plain = /^#{1,6}[ \t]+([^\\`*_[\]<>&#\n]*)$/.exec(start)?.[1]
  const text = (plain ?? withoutMarkup(start)).replace(WHITE_SPACE_RUN, ' ').trim()
  const title = firstCodePoints(text, MAX_TITLE)
  return title.length < text.length ? `${title}…` : title
}
