import { contentOf } from '../../domain/code/chunks'
import { excerptsOf } from '../../domain/recall/excerpts'
import type { ChunkHit, CodeHits } from '../../services/searching/code/search-code'
import { shownScore } from './wire'

/** How hits of a search of code are shown: symbols by their lines, chunks by the lines that hold what was sought. */

type SymbolHit = CodeHits['symbols'][number]

/** What the contents of an answer share, in code points (fabric contract §1). */
const BUDGET = 6_000

interface Place {
  readonly project: string
  readonly root: string
  readonly path: string
  readonly language: string
}

/** Shows where a hit stands: its project only where none was asked for, its root only where the project has several. */
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

/** Of a chunk that was found by its text the lines that hold it, else its content. */
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
