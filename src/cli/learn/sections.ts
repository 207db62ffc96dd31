// Divides documents (Markdown, reStructuredText) into sections and passages, without changing their text.

/** A paragraph, list item, code block or callout, with its 1-based lines. */
interface Block {
  readonly what: 'text' | 'item' | 'code' | 'callout' | 'table'
  readonly from: number
  readonly to: number
  readonly length: number
  /** Whether it is a numbered item. */
  readonly isStep: boolean
}

/** The text below one heading, without its subsections. */
export interface Section {
  /** From the title of the document to the heading of the section. */
  readonly headings: readonly string[]
  readonly blocks: readonly Block[]
}

/** Lines of a section that can be read alone. */
export interface Passage {
  readonly headings: readonly string[]
  readonly from: number
  readonly to: number
  readonly text: string
  /** Whether it is a warning or note that the author set apart. */
  readonly isCallout: boolean
  /** The text that introduces the list of which this is a later part; null for others. */
  readonly introduction: string | null
}

const HEADING = /^(#{1,6})\s+(.*?)\s*#*$/
const ITEM = /^\s*(?:[-*+•]|\d+[.)]|#\.)\s+/
const STEP = /^\s*(?:\d+[.)]|#\.)\s+/
const FENCE = /^\s*(`{3,}|~{3,})/
/** `> [!WARNING]`, `::: warning`, `!!! warning`, `.. warning::`, `{{% warning %}}`. */
const CALLOUT =
  /^\s*(?:>\s*\[!(?:WARNING|CAUTION|IMPORTANT|NOTE|TIP)\]|:::\s*(?:warning|danger|caution|important|tip|note)|!!!\s*\w+|\.\. (?:warning|danger|caution|important|attention|note|tip)::|\{\{[%<]\s*(?:warning|note|tip|important|caution))/i
/** A callout of MyST. */
const CALLOUT_FENCE = /^\s*(?:`{3,}|~{3,})\{(?:warning|danger|caution|important|attention|note|tip)\}/
/** Lines of reStructuredText that are not read: other directives, targets and comments. */
const DIRECTIVE = /^\.\. /
const UNDERLINE = /^([=\-~^"'`#*+.:_])\1{2,}\s*$/
const IS_RST = /\.rst$/i

const indentOf = (line: string): number => line.length - line.trimStart().length
const isBlank = (line: string | undefined): boolean => line === undefined || line.trim() === ''

/** Returns the index behind the lines that are indented more than `indent`, and their blank lines. */
function behindIndented(lines: readonly string[], start: number, indent: number): number {
  let at = start
  while (at < lines.length && (isBlank(lines[at]) || indentOf(lines[at] ?? '') > indent)) at++
  while (at > start && isBlank(lines[at - 1])) at--
  return at
}

/** Returns the index behind a block that begins at this line, and what it is; null for a line that is left out. */
function blockAt(lines: readonly string[], at: number, isRst: boolean): { end: number; what: Block['what'] | null } {
  const line = lines[at] ?? ''
  const [, fence] = FENCE.exec(line) ?? []
  if (fence !== undefined && !isRst) {
    let end = at + 1
    while (end < lines.length && !(lines[end] ?? '').trim().startsWith(fence)) end++
    return { end: Math.min(end + 1, lines.length), what: CALLOUT_FENCE.test(line) ? 'callout' : 'code' }
  }
  if (line.includes('<!--')) {
    let end = at
    while (end < lines.length && !(lines[end] ?? '').includes('-->')) end++
    return { end: end + 1, what: null }
  }
  if (CALLOUT.test(line)) {
    if (/^\s*:::/.test(line)) {
      let end = at + 1
      while (end < lines.length && !/^\s*:::\s*$/.test(lines[end] ?? '')) end++
      return { end: Math.min(end + 1, lines.length), what: 'callout' }
    }
    if (/^\s*\{\{/.test(line)) {
      let end = at + 1
      while (end < lines.length && !/\{\{[%<]\s*\//.test(lines[end - 1] ?? '')) end++
      return { end, what: 'callout' }
    }
    if (/^\s*>/.test(line)) {
      let end = at
      while (/^\s*>/.test(lines[end] ?? '')) end++
      return { end, what: 'callout' }
    }
    return { end: behindIndented(lines, at + 1, indentOf(line)), what: 'callout' }
  }
  if (isRst && DIRECTIVE.test(line)) {
    const end = behindIndented(lines, at + 1, 0)
    return { end, what: /^\.\. (?:code|code-block|sourcecode)::/.test(line) ? 'code' : null }
  }
  if (/^\s*\|/.test(line)) {
    let end = at
    while (/^\s*\|/.test(lines[end] ?? '')) end++
    return { end, what: 'table' }
  }
  if (/^\s*</.test(line)) return { end: at + 1, what: null }
  const isItem = ITEM.test(line)
  const indent = indentOf(line)
  let end = at + 1
  for (; end < lines.length && !isBlank(lines[end]); end++) {
    const next = lines[end] ?? ''
    // Nested items belong to their item.
    if (ITEM.test(next) && (!isItem || indentOf(next) <= indent)) break
    if (HEADING.test(next) || FENCE.test(next) || CALLOUT.test(next) || /^\s*\|/.test(next)) break
  }
  // A literal block of reStructuredText, or the further paragraphs and code of an item.
  if ((isRst && (lines[end - 1] ?? '').trimEnd().endsWith('::')) || isItem) {
    let next = end
    while (next < lines.length && isBlank(lines[next])) next++
    const isFurther = next < lines.length && indentOf(lines[next] ?? '') > indent + (isItem ? 1 : 0)
    if (isFurther) end = behindIndented(lines, end, indent)
  }
  return { end, what: isItem ? 'item' : 'text' }
}

/** A longer line is longer than any passage. Patterns would take the square of its length. */
const LONGEST_LINE = 2_000

export const linesOf = (document: string): string[] =>
  document.split(/\r?\n/).map((line) => (line.length > LONGEST_LINE ? '' : line))

/** Divides a document into sections. @param lines from `linesOf` @param path decides the format */
export function sectionsOf(lines: readonly string[], path: string): Section[] {
  const isRst = IS_RST.test(path)
  const sections: { headings: string[]; blocks: Block[] }[] = [{ headings: [], blocks: [] }]
  const marks: string[] = []
  const open = (level: number, title: string) => {
    const above = sections.at(-1)?.headings ?? []
    sections.push({ headings: [...above.slice(0, level), title], blocks: [] })
  }
  const front = lines[0] === '---' ? lines.indexOf('---', 1) : -1
  for (let at = front + 1; at < lines.length; ) {
    const line = lines[at] ?? ''
    const heading = HEADING.exec(line)
    const under = UNDERLINE.exec(lines[at + 1] ?? '')
    if (isBlank(line) || (UNDERLINE.test(line) && (isRst || !FENCE.test(line)))) at++
    else if (heading !== null && !isRst) {
      open((heading[1] ?? '#').length - 1, heading[2] ?? '')
      at++
    } else if (under !== null && !ITEM.test(line) && (isRst || /^[=-]/.test(under[1] ?? ''))) {
      const mark = under[1] ?? ''
      if (!marks.includes(mark)) marks.push(mark)
      open(marks.indexOf(mark), line.trim())
      at += 2
    } else {
      const { end, what } = blockAt(lines, at, isRst)
      const isStep = STEP.test(line)
      const { length } = lines.slice(at, end).join('\n')
      if (what !== null) sections.at(-1)?.blocks.push({ what, from: at + 1, to: end, length, isStep })
      at = Math.max(end, at + 1)
    }
  }
  return sections.filter(({ blocks }) => blocks.length > 0)
}

/** A passage of this length is not joined with the next one. */
const ENOUGH = 500
const MOST = 1_200
/** An item of this length can be read alone. */
const LONG_ITEM = 150

/** A text that goes on from the one before it. */
export const ANAPHORIC =
  /^(?:it|this|that|these|those|they|such|however|but|so|and|also|therefore|thus|then|in this case|the (?:first|second|third|latter|former|same)|otherwise|instead|another)\b/i

const isLong = ({ what, from, to, length }: Block): boolean =>
  what === 'item' && (length >= LONG_ITEM || to - from >= 3)

/** Returns whether a block is read with the one before it. */
function joinsText(
  before: Block,
  block: Block,
  {
    length,
    isIntroduction,
    isAnaphoric,
  }: { length: number } & Record<'isIntroduction' | 'isAnaphoric', (block: Block) => boolean>,
): boolean {
  if (isIntroduction(before) || block.what === 'code') return true
  if (block.what === 'text' && isAnaphoric(block)) return true
  // The steps of a procedure are read together.
  if (block.isStep && before.isStep) return true
  if (block.what === 'callout' || before.what === 'callout' || isIntroduction(block)) return false
  if (block.what === 'item') return !isLong(block) && !isLong(before) && before.what !== 'text'
  return before.what !== 'item' && length <= ENOUGH
}

/**
 * Divides a section into passages of at most 1,200 characters: all of a short section; else long items alone, and other blocks with their
 * introduction (a text that ends with a colon) and the code that follows.
 */
export function passagesOf({ headings, blocks }: Section, lines: readonly string[]): Passage[] {
  const textOf = (from: number, to: number) => lines.slice(from - 1, to).join('\n')
  const groups: Block[][] = []
  const first = blocks[0]
  const last = blocks.at(-1)
  const isIntroduction = ({ what, from, to }: Block) => what === 'text' && /:\s*$/.test(textOf(from, to))
  const isAnaphoric = ({ from, to }: Block) => ANAPHORIC.test(textOf(from, to).trim())
  const isShort = first !== undefined && last !== undefined && textOf(first.from, last.to).length <= ENOUGH
  for (const block of blocks) {
    const group = groups.at(-1)
    const before = group?.at(-1)
    if (group === undefined || before === undefined) {
      groups.push([block])
      continue
    }
    const length = textOf(group[0]?.from ?? 0, block.to).length
    const isListed = block.what === 'item' && isIntroduction(group[0] as Block)
    const joins = isShort || isListed || joinsText(before, block, { length, isIntroduction, isAnaphoric })
    if (joins && length <= MOST) group.push(block)
    else groups.push([block])
  }
  let introduction: string | null = null
  return groups.flatMap((group): Passage[] => {
    const [head] = group
    const continued = head?.what === 'item' ? introduction : null
    if (head !== undefined && head.what !== 'item')
      introduction = isIntroduction(head) ? textOf(head.from, head.to) : null
    const [from, to] = [group[0]?.from ?? 0, group.at(-1)?.to ?? 0]
    const text = textOf(from, to).replace(/^\s*\n|\s+$/g, '')
    const isCallout = group.some(({ what }) => what === 'callout')
    const isRead = group.some(({ what }) => what !== 'code' && what !== 'table')
    return isRead && text.length <= MOST ? [{ headings, from, to, text, isCallout, introduction: continued }] : []
  })
}
