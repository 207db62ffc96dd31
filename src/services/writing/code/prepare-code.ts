import { type CodeChunk, cutCode, embeddedText } from '../../../domain/code/chunks'
import { gramsOf } from '../../../domain/code/grams'
import { withLineFeeds } from '../../../domain/code/lines'
import type { CodeSymbol } from '../../../domain/code/symbols'
import { codeWords, contentLength } from '../../../domain/code/words'
import { modelKey, quantize, toBase64 } from '../../../domain/meaning/vector'
import { scheduler } from '../../../domain/scheduler'
import type { Analyzer } from '../../../domain/search/analysis'
import { redact } from '../../../domain/secrets/redact'
import type { PreparedChunk, PreparedFile } from '../../../ports/code-index'
import type { CodeParser } from '../../../ports/code-parser'
import type { Embedder } from '../../../ports/embedder'
import { attempt, type Outcome } from '../../outcome'

/** What is made of files before they are stored: symbols, chunks, search terms, vectors. */
export interface NewFile {
  readonly path: string
  readonly language: string
  readonly content: string
  readonly sha256: string
  readonly bytes: number
}

interface Dependencies {
  readonly parser: CodeParser
  readonly analyzer: Analyzer
  /** Null: no vectors. */
  readonly embedder: Embedder | null
  readonly onEmbeddingFailure: 'fail' | 'defer'
}

/** Texts embedded between two pauses, which matters where the embedder works in this process. */
const EMBED_STEP = 32

/** A file with all that is made of it without a model. */
export interface Cut {
  readonly file: NewFile
  readonly symbols: readonly CodeSymbol[]
  readonly chunks: readonly CodeChunk[]
  readonly texts: readonly string[]
  readonly grams: readonly number[]
}

export type PrepareCode = ReturnType<typeof createPrepareCode>

export function createPrepareCode({ parser, analyzer, embedder, onEmbeddingFailure }: Dependencies) {
  /** Secrets are gone before anything else looks at the file. */
  async function cut(file: NewFile): Promise<Cut> {
    const text = withLineFeeds(redact(file.content))
    await scheduler.tick(text.length)
    const symbols = await parser.symbols({ path: file.path, language: file.language, text })
    const chunks = cutCode(text, symbols)
    const grams = gramsOf(text)
    await scheduler.tick(text.length)
    return { file, symbols, chunks, grams, texts: chunks.map((chunk) => embeddedText(file.path, chunk, symbols)) }
  }

  /**
   * @param isPatient however long it takes while the model answers: for work that nobody waits for
   * @throws Problem unavailable
   */
  async function embed(texts: readonly string[], isPatient = false): Promise<string[]> {
    if (embedder === null) return []
    if (isPatient && embedder.embedPatiently)
      return (await embedder.embedPatiently(texts, async () => {})).map((vector) => toBase64(quantize(vector)))
    const step = embedder.provider === 'local' ? EMBED_STEP : texts.length
    const vectors: string[] = []
    for (let i = 0; i < texts.length; i += step) {
      const made = await embedder.embed(texts.slice(i, i + step), 'document')
      for (const vector of made) vectors.push(toBase64(quantize(vector)))
    }
    return vectors
  }

  function wordsOf(text: string): { words: string[]; length: number } {
    const tokens = analyzer.tokenize(codeWords(text))
    return { words: [...new Set(tokens.map(({ term }) => term))], length: contentLength(tokens) }
  }

  /**
   * Makes everything else of files.
   *
   * @param embedded the vectors of all their texts, or why there are none; absent: made now
   * @throws Problem unavailable when vectors cannot be made and uploads are to fail then
   */
  async function finish(cuts: readonly Cut[], embedded?: Outcome<readonly string[]>): Promise<PreparedFile[]> {
    const outcome = embedded ?? (await attempt(() => embed(cuts.flatMap(({ texts }) => texts))))
    if (!outcome.ok && onEmbeddingFailure === 'fail') throw outcome.problem
    const model = embedder === null ? '' : outcome.ok ? modelKey(embedder) : null
    let next = 0
    const prepared: PreparedFile[] = []
    for (const { file, symbols, chunks, texts, grams } of cuts) {
      const { path, language, sha256, bytes } = file
      const made: PreparedChunk[] = []
      for (const [n, { lineStart, lineEnd, overlap, text }] of chunks.entries()) {
        const vector = outcome.ok ? (outcome.value[next++] ?? null) : null
        made.push({ lineStart, lineEnd, overlap, text, vector, ...wordsOf(texts[n] as string) })
        await scheduler.tick((texts[n] as string).length)
      }
      prepared.push({ path, language, sha256, bytes, model, symbols, chunks: made, grams })
    }
    return prepared
  }

  /** @throws Problem as `finish` */
  async function prepare(files: readonly NewFile[]): Promise<PreparedFile[]> {
    const cuts: Cut[] = []
    for (const file of files) cuts.push(await cut(file))
    return finish(cuts)
  }

  return { cut, finish, prepare, embed, model: embedder === null ? '' : modelKey(embedder) }
}
