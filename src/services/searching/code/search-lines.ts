import { queryGrams } from '../../../domain/code/grams'
import { matchLines, withLineFeeds } from '../../../domain/code/lines'
import { foldCase } from '../../../domain/code/names'
import type { Scope } from '../../../domain/identity/scope'
import { SLICE, scheduler } from '../../../domain/scheduler'
import type { CodeFile, CodeIndex, TextHit } from '../../../ports/code-index'
import { byPlace, type CodeHits, type CodeQuery, MAX_HITS, matching } from './code-hits'

/** Text mode: a literal part of a line, else all words within one chunk. */

/** Bytes of files that one statement looks through. */
const LOOK_BYTES = 4_000_000
/** Words that are looked for when the query as a whole is nowhere. */
const MAX_WORDS = 12

const NO_LINE = 'no line holds this text; these chunks hold all of its words'

interface Sought {
  readonly exact: string
  readonly folded: string
}

const sought = (exact: string): Sought => ({ exact, folded: foldCase(exact) })

export function createSearchLines(index: CodeIndex) {
  /** Files that may hold the texts, in order of path; `grams` null: any. */
  async function candidates(scope: Scope, query: CodeQuery, projects: readonly string[], texts: readonly Sought[]) {
    const grams = texts.flatMap(({ folded }) => queryGrams(folded) ?? []).slice(0, 48)
    const lists = await Promise.all(
      projects.map((project) =>
        index.filesWithGrams(scope, project, query.language, grams.length === 0 ? null : grams),
      ),
    )
    const files = await matching(lists.flat(), query.filePattern)
    return projects.length === 1
      ? files
      : [...files].sort((a, b) => byPlace({ ...a, lineStart: 0 }, { ...b, lineStart: 0 }))
  }

  /** Hits in the order of files, as many as are counted. */
  async function look(scope: Scope, files: readonly CodeFile[], texts: readonly Sought[]): Promise<TextHit[]> {
    const hits: TextHit[] = []
    for (let at = 0; at < files.length && hits.length < MAX_HITS; ) {
      const step: number[] = []
      for (let bytes = 0; at < files.length && (step.length === 0 || bytes < LOOK_BYTES); at++) {
        const file = files[at] as CodeFile
        step.push(file.id)
        bytes += file.bytes
      }
      const place = new Map(step.map((id, i) => [id, i]))
      const found = await index.chunksWith(scope, step, texts)
      const order = (hit: TextHit): number => place.get(hit.fileId) as number
      hits.push(...[...found].sort((a, b) => order(a) - order(b) || a.lineStart - b.lineStart))
      if (at < files.length) await scheduler.tick(SLICE)
    }
    return hits.slice(0, MAX_HITS)
  }

  async function answer(
    scope: Scope,
    query: CodeQuery,
    projects: readonly string[],
    texts: readonly Sought[],
  ): Promise<CodeHits> {
    const files = await candidates(scope, query, projects, texts)
    const hits = await look(scope, files, texts)
    const fileOf = new Map(files.map((file) => [file.id, file]))
    const placed = hits.map((hit) => ({ ...hit, ...(fileOf.get(hit.fileId) as CodeFile) }))
    placed.sort((a, b) => Number(b.exact) - Number(a.exact) || b.hits - a.hits || byPlace(a, b))
    const shown = placed.slice(0, query.limit)
    const chunks = new Map(
      (await index.chunks(scope, { ids: shown.map(({ chunkId }) => chunkId) })).map((chunk) => [chunk.id, chunk]),
    )
    const folded = texts.map((text) => text.folded)
    return {
      symbols: [],
      chunks: shown.flatMap(({ chunkId }) => {
        const chunk = chunks.get(chunkId)
        return chunk === undefined
          ? []
          : [{ chunk, matchLines: matchLines(chunk, folded, texts.length === 1 ? 'own' : 'all'), around: null }]
      }),
      total: hits.length,
      warnings: [],
    }
  }

  return async (scope: Scope, query: CodeQuery): Promise<CodeHits> => {
    const projects =
      query.project === null ? (await index.totals(scope, null)).map(({ project }) => project) : [query.project]
    const whole = await answer(scope, query, projects, [sought(withLineFeeds(query.query))])
    if (whole.total > 0) return whole
    const words = [...new Set(query.query.trim().split(/\s+/))]
    if (words.length === 1 && words[0] === query.query) return whole
    const used = words.slice(0, MAX_WORDS)
    const hits = await answer(scope, query, projects, used.map(sought))
    const cut = words.length > MAX_WORDS ? [`only the first ${MAX_WORDS} words of the query were looked for`] : []
    return { ...hits, warnings: hits.total === 0 ? cut : [NO_LINE, ...cut] }
  }
}
