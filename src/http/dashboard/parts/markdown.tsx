import type { SyntaxNode } from '@lezer/common'
import { GFM, parser } from '@lezer/markdown'
import { type Child, jsx } from 'hono/jsx'

/**
 * A stored text for people: the shapes of Markdown, and nothing else of it. Every character is written by JSX, which escapes it; HTML and
 * images stand as they were written, a link leads to the web or is none. Line breaks stay where they were stored.
 */
const markdown = parser.configure([GFM, { remove: ['HTMLBlock', 'HTMLTag', 'Entity', 'LinkReference'] }])

/** Longer texts stand as they are: the parser takes the square of a paragraph's length. Code units. */
const LONGEST = 12_000
const LONGEST_PARAGRAPH = 2_000
/** What is nested deeper stands as it is. */
const DEEPEST = 16

const MARKS = new Set(
  'HeaderMark QuoteMark ListMark EmphasisMark CodeMark StrikethroughMark TableDelimiter TaskMarker'.split(' '),
)
/** A space behind these belongs to them. */
const BEFORE_SPACE = new Set(['HeaderMark', 'QuoteMark', 'ListMark'])
/** Nodes that become an element: of text, or of others. */
const OF_TEXT: Readonly<Record<string, string>> = {
  ...{ Paragraph: 'p', Emphasis: 'em', StrongEmphasis: 'strong', Strikethrough: 'del', InlineCode: 'code' },
  ...{ Task: 'p', TableCell: 'td' },
}
const OF_OTHERS: Readonly<Record<string, string>> = {
  ...{ Blockquote: 'blockquote', BulletList: 'ul', ListItem: 'li', Table: 'table', TableHeader: 'tr', TableRow: 'tr' },
}

/** Where a link leads: an address of the web, or null. */
function webAddress(text: string): string | null {
  const url = URL.canParse(text) ? new URL(text) : null
  return url !== null && /^(https?|mailto):$/.test(url.protocol) ? url.href : null
}

function createWriter(text: string) {
  const slice = ({ from, to }: { from: number; to: number }) => text.slice(from, to)

  function link(node: SyntaxNode): Child {
    const url = node.name === 'URL' ? node : node.getChild('URL')
    const [open, close] = node.getChildren('LinkMark')
    const address = url === null ? null : webAddress(slice(url))
    if (address === null) return slice(node)
    return (
      <a href={address} title={address} rel="noopener noreferrer nofollow">
        {open === undefined || close === undefined ? slice(node) : text.slice(open.to, close.from)}
      </a>
    )
  }

  /** What stands between the marks of a node. */
  function within(node: SyntaxNode, depth: number): Child[] {
    const parts: Child[] = []
    let at = node.from
    for (let child = node.firstChild; child !== null; child = child.nextSibling) {
      if (child.from > at) parts.push(text.slice(at, child.from))
      at = child.to
      if (child.name === 'TaskMarker') parts.push(slice(child))
      else if (!MARKS.has(child.name)) parts.push(write(child, depth + 1))
      else if (BEFORE_SPACE.has(child.name) && text[at] === ' ') at++
    }
    if (node.to > at) parts.push(text.slice(at, node.to))
    return parts
  }

  /** Nodes that hold others have only line breaks and marks beside them. */
  function others(node: SyntaxNode, depth: number): Child[] {
    const parts: Child[] = []
    for (let child = node.firstChild; child !== null; child = child.nextSibling)
      if (!MARKS.has(child.name)) parts.push(write(child, depth + 1))
    return parts
  }

  function ordered(node: SyntaxNode, depth: number): Child {
    const mark = node.getChild('ListItem')?.getChild('ListMark') ?? null
    return <ol start={mark === null ? 1 : Number.parseInt(slice(mark), 10)}>{others(node, depth)}</ol>
  }

  function write(node: SyntaxNode, depth: number): Child {
    const { name } = node
    const [ofText, ofOthers] = [OF_TEXT[name], OF_OTHERS[name]]
    if (depth > DEEPEST) return slice(node)
    if (ofText !== undefined) return jsx(ofText, {}, ...within(node, depth))
    if (ofOthers !== undefined) return jsx(ofOthers, {}, ...others(node, depth))
    if (name === 'OrderedList') return ordered(node, depth)
    if (name === 'FencedCode' || name === 'CodeBlock')
      return <pre tabindex={0}>{node.getChildren('CodeText').map(slice).join('')}</pre>
    if (name === 'HorizontalRule') return <hr />
    if (/^(ATX|Setext)Heading/.test(name)) return <p class="heading">{within(node, depth)}</p>
    if (name === 'Link' || name === 'Autolink' || name === 'URL') return link(node)
    return name === 'Escape' ? text.slice(node.from + 1, node.to) : slice(node)
  }

  return others
}

/** Signs that quotes and links begin and end with: very many cost the parser what their nesting does. */
const MOST_SIGNS = 400

const isShort = (text: string): boolean =>
  text.length <= LONGEST &&
  text.split(/[>[\]]/, MOST_SIGNS + 1).length <= MOST_SIGNS &&
  text.split('\n\n').every((paragraph) => paragraph.length <= LONGEST_PARAGRAPH)

/** @param text as it was stored, or its beginning */
export const Markdown = ({ text }: { text: string }) =>
  isShort(text) ? (
    <div class="prose" dir="auto">
      {createWriter(text)(markdown.parse(text).topNode, 0)}
    </div>
  ) : (
    <pre class="text" tabindex={0}>
      {text}
    </pre>
  )
