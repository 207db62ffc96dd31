import { createHash } from 'node:crypto'
import { linesText } from '../../domain/entry/citation'
import { bareLines, hashOf } from '../../domain/entry/compare-citation'
import { redact } from '../../domain/secrets/redact'
import { type Candidate, candidatesOf, type DocumentKind, documentKind, type SourceFile, wordsOf } from './documents'
import { type Commit, candidatesOfHistory } from './history'

/** A place of the metadata key `sources`. */
export interface LearnedSource {
  readonly path: string
  readonly lines: string
  readonly hash: string
  readonly commit: string
}

/** A memory that a repository's own text suggests. */
export interface LearnedProposal {
  /** Identifies the text, independent of its place in the repository. */
  readonly key: string
  readonly kind: Candidate['kind']
  readonly title: string
  readonly content: string
  /** `path:lines@commit`, or `commit:ID` for a commit message. */
  readonly citation: string
  /** The cited lines; empty for a commit message. */
  readonly sources: readonly LearnedSource[]
  /** The commit whose message it is. */
  readonly commit?: string
}

export const MOST_PROPOSALS = 50
const COMMIT_LENGTH = 12
const FEW_DOCS = 25
const LEAST_SCORE = 3
/** A repository with fewer good candidates than this gets the next best. */
const ENOUGH = 15
const LEAST_OF_FEW = 2.2
/** Texts with this fraction of words in common are the same fact. */
const SIMILAR = 0.6

type Source = DocumentKind | 'history'

/** Most proposals of a source and of one file. */
const MOST_OF: Readonly<Record<Source, number>> = {
  record: 20,
  'agent rules': 28,
  'post-mortem': 8,
  contributing: 24,
  development: 16,
  history: 3,
  docs: 6,
  changelog: 2,
}
const MOST_OF_FILE: Readonly<Record<Source, number>> = {
  record: 2,
  'agent rules': 22,
  'post-mortem': 4,
  contributing: 16,
  development: 8,
  history: 12,
  docs: 3,
  changelog: 2,
}
/** A repository whose documents give fewer proposals than this gets more of its history. */
const FEW = 15
const MOST_OF_HISTORY = 12

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

const sourceOf = ({ path, lines }: Candidate): Source =>
  path === null || lines === null ? 'history' : (documentKind(path) ?? 'docs')

function isSimilar(a: ReadonlySet<string>, b: ReadonlySet<string>): boolean {
  const shared = [...a].filter((word) => b.has(word)).length
  return (
    shared / Math.max(1, a.size + b.size - shared) >= SIMILAR || shared / Math.max(1, Math.min(a.size, b.size)) >= 0.85
  )
}

/** Chooses the best candidates: at most 50, few of one source and file, none twice. */
function chosen(candidates: readonly Candidate[]): Candidate[] {
  const ofSource = new Map<string, number>()
  const taken: { candidate: Candidate; words: ReadonlySet<string> }[] = []
  const ranked = candidates.filter(({ score }) => score >= LEAST_OF_FEW).toSorted((a, b) => b.score - a.score)
  const take = (candidate: Candidate, mostOfHistory: number): void => {
    const source = sourceOf(candidate)
    const file = `${source} ${candidate.path ?? ''}`
    const [before, here] = [ofSource.get(source) ?? 0, ofSource.get(file) ?? 0]
    const most = source === 'history' ? mostOfHistory : MOST_OF[source]
    if (before >= most || here >= MOST_OF_FILE[source]) return
    const words = new Set(wordsOf(candidate.content))
    if (taken.some((one) => isSimilar(one.words, words))) return
    ofSource.set(source, before + 1)
    ofSource.set(file, here + 1)
    taken.push({ candidate, words })
  }
  const takeAll = (mostOfHistory: number, enough: number) => {
    for (const candidate of ranked) {
      const isEnough = candidate.score < LEAST_SCORE ? taken.length >= enough : taken.length === MOST_PROPOSALS
      if (isEnough) break
      take(candidate, mostOfHistory)
    }
  }
  takeAll(MOST_OF.history, ENOUGH)
  if (taken.length < FEW) takeAll(MOST_OF_HISTORY, FEW)
  return taken.map(({ candidate }) => candidate)
}

function proposalOf(candidate: Candidate, files: ReadonlyMap<string, string>, head: string): LearnedProposal {
  const { kind, title, content, path, lines, commit, identity } = candidate
  const id = (commit ?? head).slice(0, COMMIT_LENGTH)
  const range = lines === null ? null : linesText(lines.from, lines.to)
  const hash = range === null || path === null ? null : hashOf(range, bareLines(files.get(path) ?? ''), sha256)
  const cited = path !== null && range !== null && hash !== null
  return {
    ...{ key: sha256(identity), kind, title: redact(title), content: redact(content) },
    citation: cited ? `${path}:${range}@${id}` : path === null ? `commit:${id}` : `${path}@${id}`,
    sources: cited ? [{ path, lines: range, hash, commit: head }] : [],
    ...(commit === null ? {} : { commit }),
  }
}

/** Returns whether `learn` reads a file. @param path from the top of the repository, with `/` */
export const isSource = (path: string): boolean => documentKind(path) !== null

/**
 * Proposes memories from a repository's documents and history, at most 50, without a model. Texts are the source's own; secrets are redacted.
 *
 * @param files those that `isSource` accepts, as they are in `head`
 * @param commits the newest first
 * @param paths all paths of `head`
 */
export function proposeMemories(
  files: readonly SourceFile[],
  commits: readonly Commit[],
  head: string,
  paths: readonly string[] = files.map(({ path }) => path),
): LearnedProposal[] {
  const texts = new Map(files.map(({ path, text }) => [path, text]))
  const hasFewDocs = files.filter(({ path }) => documentKind(path) === 'docs').length <= FEW_DOCS
  const candidates = [
    ...files.flatMap((file) => candidatesOf(file, hasFewDocs)),
    ...candidatesOfHistory(commits, paths),
  ]
  return chosen(candidates).map((candidate) => proposalOf(candidate, texts, head))
}
