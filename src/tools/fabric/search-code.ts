import * as z from 'zod'
import { contentOf } from '../../domain/code/chunks'
import { createGlob } from '../../domain/code/indexed-files'
import { normalizeLanguage } from '../../domain/code/languages'
import { CODE_MODES } from '../../domain/code/modes'
import { SYMBOL_KINDS } from '../../domain/code/symbols'
import { invalidInput } from '../../domain/errors'
import type { Scope } from '../../domain/identity/scope'
import { excerptsOf } from '../../domain/recall/excerpts'
import { clampLimit } from '../../domain/search/window'
import { codePointLength } from '../../domain/text'
import { collectIssues } from '../../domain/validation'
import type { ChunkHit, CodeHits } from '../../services/searching/code/search-code'
import { defineTool } from '../define-tool'
import { flag } from '../fields'
import { soundArguments } from '../parse-arguments'
import { fabric } from './family'
import { checkAsked, fabricOutput, iso, projectPath, shownScore, threshold } from './memory-serializer'

type SymbolHit = CodeHits['symbols'][number]

/** Code points of all contents in an answer (fabric contract §1). */
const BUDGET = 6_000

interface Place {
  readonly project: string
  readonly root: string
  readonly path: string
  readonly language: string
}

/** Serializes the location of a hit: with the project if the call names none, with the root if the project has several. */
export const placeOf = (withProject: boolean, roots: ReadonlySet<string>) => (of: Place) => ({
  filePath: of.path,
  language: of.language,
  ...(withProject ? { projectPath: of.project } : {}),
  ...(roots.has(of.project) ? { root: of.root } : {}),
})

export const symbolItems = (hits: readonly SymbolHit[], place: (of: Place) => Record<string, unknown>) => {
  const signatures = hits.reduce((sum, { symbol }) => sum + symbol.signature.length, 0)
  const budget = Math.max(0, BUDGET - signatures)
  const comments = excerptsOf(
    hits.map(({ symbol }) => ({ text: symbol.docComment, around: null })),
    budget,
  )
  return hits.map((hit, i) => {
    const { name, kind, signature, lineStart, lineEnd } = hit.symbol
    const docComment = comments[i]?.content ?? ''
    return {
      ...place(hit),
      symbol: {
        ...{ name, kind, signature, lineStart, lineEnd },
        ...(docComment === '' ? {} : { docComment }),
        score: hit.score,
      },
    }
  })
}

/** Returns the matching lines of a chunk found by its text, else its content. */
function shownOf({ chunk, matchLines, around }: ChunkHit) {
  const content = contentOf(chunk)
  if (matchLines === undefined) return { text: content, around }
  const lines = content.split('\n')
  const text = matchLines.map((line) => `${line}: ${(lines[line - chunk.lineStart] ?? '').trimEnd()}`).join('\n')
  return { text, around: null }
}

export const chunkItems = (
  hits: readonly ChunkHit[],
  place: (of: Place) => Record<string, unknown>,
  withContent: boolean,
) => {
  const contents = withContent ? excerptsOf(hits.map(shownOf), BUDGET) : []
  return hits.map(({ chunk, similarity, matchLines }, i) => ({
    ...place(chunk),
    chunk: {
      lineStart: chunk.lineStart,
      lineEnd: chunk.lineEnd,
      ...contents[i],
      ...(similarity === undefined ? {} : { similarity: shownScore(similarity) }),
      ...(matchLines === undefined ? {} : { matchLines }),
    },
  }))
}

const MAX_PATTERN = 256

const input = z.strictObject({
  query: z.string().meta({ description: 'Question, symbol name or text' }),
  mode: z.enum(CODE_MODES).default('semantic').meta({ description: 'By meaning, name or literal text' }),
  language: z.string().optional().meta({ description: 'Such as typescript, py, c++' }),
  filePattern: z.string().optional().meta({ description: 'Glob such as src/**/*.ts; without / it matches base names' }),
  symbolKind: z.enum(SYMBOL_KINDS).optional().meta({ description: 'Mode symbol: only this kind' }),
  limit: z.int().min(1).default(10).meta({ description: '1–100' }),
  threshold: threshold(0.5),
  includeContent: flag(true, 'Include the code of chunks'),
  projectPath,
})

function checkPattern(given: string): void {
  if (codePointLength(given) > MAX_PATTERN) throw invalidInput(`filePattern has more than ${MAX_PATTERN} characters`)
  createGlob(given)
}

/** Checks the arguments and returns the project. @throws Problem that lists every problem */
const checked = (scope: Scope, { query, filePattern, projectPath }: Partial<z.output<typeof input>>): string | null =>
  collectIssues((wrong) => {
    if (filePattern !== undefined) wrong.check('filePattern', filePattern, () => checkPattern(filePattern))
    return checkAsked(scope, { query, projectPath }, wrong)
  })

export const searchCode = defineTool({
  family: fabric,
  name: 'context_searchCode',
  title: 'Search code',
  description:
    "Search a project's indexed source code: by meaning, by symbol name, or by literal text. " +
    'Index files with `commonplace index` or file_opened events.',
  example: { query: 'withTenant', mode: 'text', projectPath: 'ferry' },
  promise: 'FABRIC-125',
  budget: { tokens: 300, trips: 5, reads: [330, 330], writes: 0 },
  input,
  output: fabricOutput({
    results: z
      .array(
        z
          .looseObject({ filePath: z.string(), language: z.string() })
          .meta({ description: 'A file with its symbol or chunk' }),
      )
      .meta({ description: 'Best first' }),
    indexStatus: z
      .looseObject({ totalFiles: z.int(), totalSymbols: z.int(), isStale: z.boolean(), pending: z.int() })
      .meta({ description: 'How complete and fresh the index is' }),
    total: z.int(),
    warnings: z.array(z.string().meta({ description: 'Warning' })).meta({ description: 'Warnings' }),
  }),
  inspect: (args, { principal }) => void checked(principal, soundArguments(input, args)),
  async handler({ services, principal }, args) {
    const project = checked(principal, args)
    const { filePattern } = args
    const blank = (text: string | undefined): boolean => text === undefined || text.trim() === ''
    const found = await services.code.search(principal, args.mode, {
      query: args.query,
      project,
      language: blank(args.language) ? null : normalizeLanguage(args.language as string),
      filePattern: blank(filePattern) ? null : (filePattern as string),
      symbolKind: args.symbolKind ?? null,
      limit: clampLimit(args.limit).limit,
      threshold: args.threshold,
    })
    const { indexStatus, total, warnings } = found
    const place = placeOf(project === null, found.roots)
    return {
      results: [...symbolItems(found.symbols, place), ...chunkItems(found.chunks, place, args.includeContent)],
      indexStatus: {
        ...indexStatus,
        lastIndexed: indexStatus.lastIndexed === null ? null : iso(indexStatus.lastIndexed),
      },
      total,
      ...(warnings.length === 0 ? {} : { warnings }),
    }
  },
})
