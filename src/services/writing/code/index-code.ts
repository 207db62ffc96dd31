import { type CodeChunk, cutCode, embeddedText, withLineFeeds } from '../../../domain/code/chunks'
import { checkRoot, contentProblem, MAX_CALL_BYTES, MAX_FILES, normalizePath } from '../../../domain/code/indexed-files'
import { languageOf, normalizeLanguage } from '../../../domain/code/languages'
import { type IndexStatus, statusOf } from '../../../domain/code/status'
import { codeWords, contentLength, gramsOf } from '../../../domain/code/symbol-names'
import type { CodeSymbol } from '../../../domain/code/symbols'
import { limitExceeded } from '../../../domain/errors'
import type { Actor, Scope } from '../../../domain/identity/scope'
import { modelKey, quantize, toBase64 } from '../../../domain/meaning/vector'
import { openProject } from '../../../domain/recall/project-access'
import { JSON_UNITS, SLICE, scheduler } from '../../../domain/scheduler'
import type { Analyzer } from '../../../domain/search/analysis'
import { redact } from '../../../domain/secrets/redact'
import { sha256Hex, utf8Length } from '../../../domain/text'
import type { Clock } from '../../../ports/clock'
import type { CodeIndex, FileState, PreparedChunk, PreparedFile } from '../../../ports/code-index'
import type { CodeParser } from '../../../ports/code-parser'
import type { Embedder } from '../../../ports/models'
import { attempt, type Outcome } from '../../outcome'

/** A file with symbols, chunks, search terms and vectors to be computed. */
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
  /** Null for no vectors. */
  readonly embedder: Embedder | null
  readonly onEmbeddingFailure: 'fail' | 'defer'
}

/** Texts that are embedded between two pauses, if the embedder runs in this process. */
const EMBED_STEP = 32

/** A file with everything that needs no model. */
export interface Cut {
  readonly file: NewFile
  readonly symbols: readonly CodeSymbol[]
  readonly chunks: readonly CodeChunk[]
  readonly texts: readonly string[]
  readonly grams: readonly number[]
}

export type PrepareCode = ReturnType<typeof createPrepareCode>

export function createPrepareCode({ parser, analyzer, embedder, onEmbeddingFailure }: Dependencies) {
  /** Secrets are removed before anything else reads the file. */
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
   * Embeds texts.
   *
   * @param isPatient whether to wait as long as the model answers, for background work
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
   * Completes files with vectors.
   *
   * @param embedded the vectors of all their texts, or the error; absent to compute them now
   * @throws Problem unavailable if vectors cannot be computed and uploads must fail then
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

  /** Prepares files for the index. @throws Problem as `finish` */
  async function prepare(files: readonly NewFile[]): Promise<PreparedFile[]> {
    const cuts: Cut[] = []
    for (const file of files) cuts.push(await cut(file))
    return finish(cuts)
  }

  return { cut, finish, prepare, embed, model: embedder === null ? '' : modelKey(embedder) }
}

/** A file sent to the code index (fabric contract §9). */
export interface SentFile {
  readonly path: string
  readonly content: string
  /** Detected from the file name by default. */
  readonly language?: string
}

export interface IndexReport {
  readonly stored: number
  readonly unchanged: number
  readonly deleted: number
  readonly skipped: readonly { readonly path: string; readonly reason: string }[]
  readonly indexStatus: IndexStatus
}

/** A file in a list of the index; without `root` if none was given. */
interface ListedFile {
  readonly path: string
  readonly sha256: string | null
  readonly root?: string
}

/** An opened file with everything that needs no model. */
export interface OpenedFile {
  /** Texts to embed; empty if the file is not indexed or is unchanged. */
  readonly texts: readonly string[]
  /**
   * Indexes the file.
   *
   * @param embedded vectors of the texts, or the error; absent to compute them now
   * @returns why it is not in the index; null if it is
   * @throws Problem as `put`
   */
  index(embedded?: Outcome<readonly string[]>): Promise<string | null>
}

/** Bytes of content that are prepared and written together, so that no batch takes long. */
const SLICE_BYTES = 524_288
const TWICE = 'the path occurs again in this call, and the last of its files is used'
/** Files that one batch removes. */
const REMOVE_STEP = 200

export type IndexCode = ReturnType<typeof createIndexCode>

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a factory: its members are functions of their own
export function createIndexCode(dependencies: {
  readonly index: CodeIndex
  readonly prepareCode: PrepareCode
  readonly clock: Clock
}) {
  const { index, prepareCode, clock } = dependencies

  const status = async (scope: Scope, project: string | null): Promise<IndexStatus> =>
    statusOf(await index.totals(scope, project), clock.now())

  /** Returns files that may be indexed (the last one for each path), and reasons for the others. */
  async function admit(project: string, sent: readonly SentFile[]) {
    const files = new Map<string, NewFile>()
    const skipped: { path: string; reason: string }[] = []
    for (const { path: given, content, language } of sent) {
      const normal = normalizePath(given, project)
      const reason = 'reason' in normal ? normal.reason : contentProblem(content)
      if (reason !== null || 'reason' in normal) {
        skipped.push({ path: given.toWellFormed().replaceAll('\u0000', '\ufffd').slice(0, 1024), reason: reason ?? '' })
        continue
      }
      await scheduler.tick(content.length / JSON_UNITS)
      const { path } = normal
      if (files.delete(path)) skipped.push({ path, reason: TWICE })
      files.set(path, {
        path,
        content,
        language: language === undefined || language.trim() === '' ? languageOf(path) : normalizeLanguage(language),
        sha256: await sha256Hex(content),
        bytes: utf8Length(content),
      })
    }
    return { files, skipped }
  }

  function* slices(files: readonly NewFile[]): Generator<NewFile[]> {
    let slice: NewFile[] = []
    let bytes = 0
    for (const file of files) {
      if (slice.length > 0 && bytes + file.bytes > SLICE_BYTES) {
        yield slice
        slice = []
        bytes = 0
      }
      slice.push(file)
      bytes += file.bytes
    }
    yield slice
  }

  const isCurrent = (state: FileState | undefined, file: NewFile): boolean =>
    state !== undefined && state.sha256 === file.sha256 && (state.model === null || state.model === prepareCode.model)

  /**
   * Replaces files of a project in the index.
   *
   * Each slice of files is written in one batch, so a file is never incomplete, and a repeated call writes the rest.
   *
   * @throws Problem limit_exceeded, forbidden, unavailable
   * @example
   * await services.code.put(caller, 'ferry', { files: [{ path: 'src/a.ts', content }], deleted: [] })
   */
  async function put(
    caller: Actor,
    given: string,
    sent: { readonly root?: string; readonly files: readonly SentFile[]; readonly deleted: readonly string[] },
  ): Promise<IndexReport> {
    const project = openProject(caller, given, 'project')
    const root = checkRoot(sent.root ?? '')
    if (sent.files.length > MAX_FILES)
      throw limitExceeded(`files has ${sent.files.length} items; at most ${MAX_FILES} are allowed`)
    const bytes = sent.files.reduce((sum, { content }) => sum + utf8Length(content), 0)
    if (bytes > MAX_CALL_BYTES)
      throw limitExceeded(`The files have ${bytes} bytes; at most ${MAX_CALL_BYTES} are allowed in one call`)
    const { files, skipped } = await admit(project, sent.files)
    const gone = sent.deleted.flatMap((path) => {
      const normal = normalizePath(path, project)
      return 'path' in normal && !files.has(normal.path) ? [normal.path] : []
    })
    const known = await index.states(caller, project, root, [...files.keys(), ...gone])
    const states = new Map(known.map((state) => [state.path, state]))
    const changed = [...files.values()].filter((file) => !isCurrent(states.get(file.path), file))
    const unchanged = files.size - changed.length
    const deleted = [...new Set(gone)].filter((path) => states.has(path))
    let first = true
    for (const slice of slices(changed)) {
      const prepared = await prepareCode.prepare(slice)
      await index.replace(caller, project, {
        root,
        files: prepared,
        deleted: first ? deleted : [],
        detail: {
          stored: slice.length,
          ...(first ? { unchanged, deleted: deleted.length, skipped: skipped.length } : {}),
        },
      })
      first = false
      await scheduler.tick(SLICE)
    }
    return {
      stored: changed.length,
      unchanged,
      deleted: deleted.length,
      skipped,
      indexStatus: await status(caller, project),
    }
  }

  return {
    put,
    status,

    /** Prepares the file of a `file_opened` event, which has its own row in the audit log. @throws Problem as `put` */
    async open(caller: Actor, given: string, sent: SentFile): Promise<OpenedFile> {
      const project = openProject(caller, given, 'project')
      const { files, skipped } = await admit(project, [sent])
      const [file] = files.values()
      if (file === undefined) return { texts: [], index: async () => skipped[0]?.reason ?? null }
      const [state] = await index.states(caller, project, '', [file.path])
      if (isCurrent(state, file)) return { texts: [], index: async () => null }
      const cut = await prepareCode.cut(file)
      return {
        texts: cut.texts,
        async index(embedded) {
          const prepared = await prepareCode.finish([cut], embedded)
          await index.replace(caller, project, { root: '', files: prepared, deleted: [], detail: null })
          return null
        },
      }
    },

    /**
     * Lists paths and hashes. The hash is null if the file must be sent again, because its vectors are of another model.
     *
     * @param root only its files; undefined for all
     */
    async list(scope: Scope, given: string, root?: string): Promise<ListedFile[]> {
      const project = openProject(scope, given, 'project')
      const states = await index.states(scope, project, root === undefined ? null : checkRoot(root))
      return states.map(({ root, path, sha256, model }) => ({
        path,
        sha256: model === null || model === prepareCode.model ? sha256 : null,
        ...(root === '' ? {} : { root }),
      }))
    },

    /** Empties a project, or one root of it. Returns the number of files removed. */
    async clear(caller: Actor, given: string, root?: string): Promise<number> {
      const project = openProject(caller, given, 'project')
      const only = root === undefined ? null : checkRoot(root)
      let deleted = 0
      for (;;) {
        const step = await index.remove(caller, project, only, REMOVE_STEP)
        deleted += step
        if (step < REMOVE_STEP) break
        await scheduler.tick(SLICE)
      }
      await index.forget(caller, project, { deleted })
      return deleted
    },

    /** Computes missing vectors of stored files. Returns the number of files completed. */
    async embedPending(limit: number): Promise<number> {
      if (prepareCode.model === '') return 0
      const files = await index.pending(limit)
      for (const file of files) {
        const texts = file.chunks.map((chunk) => embeddedText(file.path, chunk, file.symbols))
        await index.embed(file, prepareCode.model, await prepareCode.embed(texts, true))
      }
      return files.length
    },
  }
}
