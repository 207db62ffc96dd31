// Reads Markdown files: one entry per section (docs/import/markdown.md).
import { basename } from 'node:path'
import { titleOf } from '../../domain/entry/extracted-metadata'
import { readKind } from '../../domain/entry/kind'
import type { JsonObject } from '../../domain/entry/metadata'
import { type Heading, readHeadings } from '../../domain/reading/headings'
import { slug } from '../../domain/reading/outline'
import { atOnce } from '../../domain/scheduler'
import { trim } from '../../domain/text'
import { Collector, type Found } from './collector'
import { markdownBelow, readText, type TextFile } from './files'
import { readNote, withoutFences } from './front-matter'
import { RowProblem } from './values'

/** Files with instructions for agents. */
const RULES =
  /(^|\/)(CLAUDE(\.local)?\.md|AGENTS(\.override)?\.md|GEMINI\.md|CONVENTIONS\.md|copilot-instructions\.md)$|(^|\/)rules\/|\.mdc$/i

export async function readMarkdown(path: string): Promise<Collector> {
  const collector = new Collector()
  const files = markdownBelow(collector, path, /\.(md|mdc|markdown)$/i, true)
  for (const file of files) await takeSections(collector, file, null)
  collector.note(path, 'has no times: each section gets the time of its file')
  return collector
}

/** Yields each section of a file as an entry. @param project its project, if known */
export async function takeSections(collector: Collector, file: TextFile, project: string | null): Promise<void> {
  try {
    const { front, body } = readNote(readText(file.path).replaceAll('\r\n', '\n'))
    const base: JsonObject = {
      ...(front ?? {}),
      kind: readKind(String(front?.kind ?? '')) ?? (RULES.test(file.name) ? 'convention' : 'note'),
      ...(project === null ? {} : { project }),
    }
    const sections = await sectionsOf(body)
    for (const [, target] of withoutFences(body).matchAll(
      /(?<![\w@])@((?:~|\.{0,2})?\/?[\w.-]+(?:\/[\w.-]+)+|[\w-]+\.md)\b/g,
    ))
      collector.note(file.name, `imports @${target}, which is not followed: import that file as well`)
    if (sections.length === 0) throw new RowProblem('has no text')
    for (const { title, path, text } of sections) {
      if (text === '') collector.skip('empty sections')
      else collector.take(`${file.name}#${path}`, () => entryOf(file, title, path, text, base))
    }
  } catch (error) {
    if (!(error instanceof RowProblem)) throw error
    collector.refuse(file.name, error.message)
  }
}

const entryOf = (
  file: TextFile,
  title: string | null,
  path: string,
  text: string,
  base: JsonObject,
): Omit<Found, 'where'> => ({
  id: `${file.name}#${path}`,
  threadId: file.name,
  source: 'user',
  text,
  metadata: { ...base, title: title ?? titleOf(base) ?? basename(file.name) },
  createdAt: file.at,
})

interface Section {
  /** Null before the first heading. */
  readonly title: string | null
  /** Slugs of the headings above it; the second of equal ones ends with -2. */
  readonly path: string
  readonly text: string
}

async function sectionsOf(text: string): Promise<Section[]> {
  const headings = atOnce(readHeadings(text))
  const met = new Map<string, number>()
  const above: Heading[] = []
  const first = trim(text.slice(0, headings[0]?.start ?? text.length))
  const sections: Section[] = first === '' ? [] : [{ title: null, path: '', text: first }]
  for (const [i, heading] of headings.entries()) {
    while (above.length > 0 && (above.at(-1)?.level ?? 0) >= heading.level) above.pop()
    above.push(heading)
    const path = above.map(({ title }) => slug(title)).join('/')
    const count = (met.get(path) ?? 0) + 1
    met.set(path, count)
    const whole = text.slice(heading.start, headings[i + 1]?.start ?? text.length)
    sections.push({
      title: heading.title,
      path: count === 1 ? path : `${path}-${count}`,
      text: trim(withoutHeading(whole)),
    })
  }
  return sections
}

/** Removes the heading of a section: one line, or a line and its underline. */
function withoutHeading(section: string): string {
  if (/^ {0,3}#/.test(section)) return section.replace(/^[^\n]*\n?/, '')
  return section.replace(/^.*?\n {0,3}(=+|-+)[ \t]*(\n|$)/s, '')
}
