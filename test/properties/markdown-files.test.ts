import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { fileNameOf, folderOf, readMarkdownFile, writeMarkdown } from '../../src/cli/markdown/markdown-file'
import type { JsonObject } from '../../src/domain/entry/metadata'
import { normalizeTags } from '../../src/domain/entry/selection'
import { entryContent } from '../../src/domain/transfer/content-checksum'
import { told } from '../support/transfer'

const ITSELF = { stable: (id: string) => (/^\d+$/.test(id) ? `#${id}` : null), isMissing: () => false }
const NAMES = new Map([1, 2, 3].map((id) => [String(id), `Name ${id}`]))
const idOfName = (name: string) => Number([...NAMES].find(([, one]) => one === name)?.[0] ?? 0) || null

/** Words that YAML, Markdown and wiki links give a meaning. */
const HOSTILE = [
  ...[
    '---',
    '...',
    '# a',
    '- b',
    'a: b',
    '[[Name 1]]',
    '*a',
    '&a',
    '!!str',
    '|',
    '>',
    '%',
    '@',
    '`',
    'null',
    '~',
    'yes',
    '1',
    '1.0',
    '0x1',
    '',
  ],
  ...[
    '<<',
    '__proto__',
    'id',
    'tags',
    'version',
    'checksum',
    'links',
    'metadata',
    ' x ',
    'a\nb',
    'a\r\nb',
    '\u0085',
    '\u2028',
    '\ufeff',
    '\t',
    '"',
    "'",
  ],
]
const text = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'grapheme', maxLength: 200 }),
)
// JSON has no negative zero.
const double = fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => (number === 0 ? 0 : number))
const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4 },
    ...[text, fc.boolean(), fc.constant(null), fc.integer(), double],
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4 }),
  ),
})).value
const fields = {
  title: text,
  kind: fc.constantFrom('decision', 'note'),
  weight: fc.integer({ min: 1, max: 5 }),
  pinned: fc.boolean(),
  references: fc.record({ context_ids: fc.array(fc.constantFrom(1, '2', 3, 9)), kept: text }, { requiredKeys: [] }),
  supersedes: fc.constantFrom(1, '1', [2, '3'], 'a word'),
}
const metadata = fc
  .tuple(fc.dictionary(text, json, { maxKeys: 5 }), fc.record(fields, { requiredKeys: [] }))
  .map(([free, known]) => ({ ...free, ...known }) as JsonObject)
  // IDs in metadata that create links are those of entries with a file; protecting keys are validated by type.
  .filter((all) => !['audience', 'diary', 'expires_at', 'captured', 'project'].some((key) => Object.hasOwn(all, key)))

const linksIn = (all: JsonObject) => {
  const named = (relation: string, value: unknown) =>
    [value]
      .flat()
      .flatMap((id) => (NAMES.has(String(id)) ? [{ relation, to: Number(id), origin: 'metadata' as const }] : []))
  const { references, supersedes } = all as { references?: { context_ids?: unknown }; supersedes?: unknown }
  const links = [...named('references', references?.context_ids), ...named('supersedes', supersedes)]
  return [...new Map(links.map((link) => [JSON.stringify(link), link])).values()]
}

describe('the file of a memory', () => {
  it('contains all data of the memory, whatever is in its text and metadata', () => {
    fc.assert(
      fc.property(
        text,
        fc.option(metadata),
        fc.array(text),
        fc.boolean(),
        fc.integer({ min: 1, max: 3 }),
        (body, all, words, flag, layer) => {
          const tags = normalizeTags(words)
          const record = told(7, {
            ...{ text: body, tags, archived: flag, layer, weight: 4, pinned: flag },
            ...(all === null
              ? {}
              : { metadata: all, links: [...linksIn(all), { relation: 'part of', to: 2, origin: 'remember' }] }),
          })
          const file = writeMarkdown(record, (id) => NAMES.get(id))
          const { record: read, isEdited } = readMarkdownFile(file, idOfName)
          expect(isEdited).toBe(false)
          expect([read.id, read.version, read.updated_at]).toEqual([7, record.version, record.updated_at])
          expect(entryContent(read, ITSELF)).toBe(entryContent(record, ITSELF))
          expect(writeMarkdown(read, (id) => NAMES.get(id)).length).toBe(file.length)
          expect(readMarkdownFile(`${file} `, idOfName).isEdited).toBe(true)
        },
      ),
      { numRuns: 500 },
    )
  })

  it('lies inside the folder, under a name that every system takes', () => {
    fc.assert(
      fc.property(fc.option(text, { nil: undefined }), text, text, (project, kind, title) => {
        const path = `${folderOf({ project, kind })}/${fileNameOf({ id: 7, title, text: '' })}`
        const parts = path.split('/')
        expect(parts).toHaveLength(3)
        for (const part of parts) {
          expect(part).toMatch(/^[^.\s\\/:*?"<>|\p{Cc}][^\\/:*?"<>|\p{Cc}]*$/u)
          expect(Buffer.byteLength(`${part}.md`)).toBeLessThan(200)
        }
      }),
    )
  })

  it('keeps its text where git or an editor has changed the ends of all lines', () => {
    const file = writeMarkdown(told(7, { text: 'a\n\nb', metadata: { title: 'T' } }), () => undefined)
    const { record, isEdited } = readMarkdownFile(file.replaceAll('\n', '\r\n'), () => null)
    expect([record.text, record.metadata, isEdited]).toEqual(['a\n\nb', { title: 'T' }, true])
  })
})
