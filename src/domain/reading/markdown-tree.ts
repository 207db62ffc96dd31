import { GFM, parser } from '@lezer/markdown'

/**
 * Parses Markdown into a tree for display. Unsupported syntax (HTML, images, links without a web address) remains text.
 */
export type Shape = string | ShapedText

interface ShapedText {
  readonly as: ShapeName
  readonly parts: readonly Shape[]
  /** For `a`: a web address. */
  readonly href?: string
  /** For `ol`: the number of its first item. */
  readonly start?: number
}

type ShapeName =
  | ('p' | 'em' | 'strong' | 'del' | 'code' | 'td' | 'blockquote' | 'ul' | 'ol' | 'li' | 'table' | 'tr')
  | ('a' | 'pre' | 'hr' | 'heading')

const markdown = parser.configure([GFM, { remove: ['HTMLBlock', 'HTMLTag', 'Entity', 'LinkReference'] }])

type SyntaxNode = ReturnType<typeof markdown.parse>['topNode']

/** Maximum length of a text in UTF-16 units; the parser takes quadratic time for a paragraph. */
const LONGEST = 12_000
const LONGEST_PARAGRAPH = 2_000
/** Maximum number of characters that open or close quotes and links, because the parser's time grows with nesting. */
const MOST_SIGNS = 400
/** Maximum nesting; deeper nodes remain text. */
const DEEPEST = 16

const MARKS = new Set(
  'HeaderMark QuoteMark ListMark EmphasisMark CodeMark StrikethroughMark TableDelimiter TaskMarker'.split(' '),
)
/** Marks that include the space after them. */
const BEFORE_SPACE = new Set(['HeaderMark', 'QuoteMark', 'ListMark'])
/** Names of inline nodes, and of block nodes below, with the resulting element. */
const OF_TEXT: Readonly<Record<string, ShapeName>> = {
  ...{ Paragraph: 'p', Emphasis: 'em', StrongEmphasis: 'strong', Strikethrough: 'del', InlineCode: 'code' },
  ...{ Task: 'p', TableCell: 'td' },
}
const OF_OTHERS: Readonly<Record<string, ShapeName>> = {
  ...{ Blockquote: 'blockquote', BulletList: 'ul', ListItem: 'li', Table: 'table', TableHeader: 'tr', TableRow: 'tr' },
}

function webAddress(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null
  return url !== null && /^(https?|mailto):$/.test(url.protocol) ? url.href : null
}

function createReader(text: string) {
  const slice = ({ from, to }: { from: number; to: number }) => text.slice(from, to)

  function link(node: SyntaxNode): Shape {
    const url = node.name === 'URL' ? node : node.getChild('URL')
    const [open, close] = node.getChildren('LinkMark')
    const href = url === null ? null : webAddress(slice(url))
    if (href === null) return slice(node)
    return {
      as: 'a',
      parts: [open === undefined || close === undefined ? slice(node) : text.slice(open.to, close.from)],
      href,
    }
  }

  /** The content of a node between its markup. */
  function within(node: SyntaxNode, depth: number): Shape[] {
    const parts: Shape[] = []
    let at = node.from
    for (let child = node.firstChild; child !== null; child = child.nextSibling) {
      if (child.from > at) parts.push(text.slice(at, child.from))
      at = child.to
      if (child.name === 'TaskMarker') parts.push(slice(child))
      else if (!MARKS.has(child.name)) parts.push(shapeOf(child, depth + 1))
      else if (BEFORE_SPACE.has(child.name) && text[at] === ' ') at++
    }
    if (node.to > at) parts.push(text.slice(at, node.to))
    return parts
  }

  /** Block nodes contain only other nodes, line breaks and markup. */
  function others(node: SyntaxNode, depth: number): Shape[] {
    const parts: Shape[] = []
    for (let child = node.firstChild; child !== null; child = child.nextSibling)
      if (!MARKS.has(child.name)) parts.push(shapeOf(child, depth + 1))
    return parts
  }

  function ordered(node: SyntaxNode, depth: number): Shape {
    const mark = node.getChild('ListItem')?.getChild('ListMark') ?? null
    const start = mark === null ? 1 : Number.parseInt(slice(mark), 10)
    return { as: 'ol', parts: others(node, depth), start }
  }

  function shapeOf(node: SyntaxNode, depth: number): Shape {
    const { name } = node
    const [ofText, ofOthers] = [OF_TEXT[name], OF_OTHERS[name]]
    if (depth > DEEPEST) return slice(node)
    if (ofText !== undefined) return { as: ofText, parts: within(node, depth) }
    if (ofOthers !== undefined) return { as: ofOthers, parts: others(node, depth) }
    if (name === 'OrderedList') return ordered(node, depth)
    if (name === 'FencedCode' || name === 'CodeBlock')
      return { as: 'pre', parts: node.getChildren('CodeText').map(slice) }
    if (name === 'HorizontalRule') return { as: 'hr', parts: [] }
    if (/^(ATX|Setext)Heading/.test(name)) return { as: 'heading', parts: within(node, depth) }
    if (name === 'Link' || name === 'Autolink' || name === 'URL') return link(node)
    return name === 'Escape' ? text.slice(node.from + 1, node.to) : slice(node)
  }

  return others
}

const isReadable = (text: string): boolean =>
  text.length <= LONGEST &&
  text.split(/[>[\]]/, MOST_SIGNS + 1).length <= MOST_SIGNS &&
  text.split('\n\n').every((paragraph) => paragraph.length <= LONGEST_PARAGRAPH)

/** Parses a text. @returns null for a text that is too long or nested too deeply */
export const shapesOf = (text: string): Shape[] | null =>
  isReadable(text) ? createReader(text)(markdown.parse(text).topNode, 0) : null
