// Finds commits that explain themselves, and files that were fixed again and again.
import { type Candidate, documentKind, plain } from './documents'

export interface Commit {
  readonly id: string
  readonly subject: string
  readonly body: string
  readonly paths: readonly string[]
}

const FIX = /^(?:fix|bugfix|hotfix)\b|^fixe[sd]\b|\bfix(?:es|ed)?\b/i
const REVERT = /^revert\b|^rollback\b|\brevert\b/i
/** Commits whose messages explain their own change and not the product. */
const CHORE =
  /^\W?(?:chore|docs?|refactor|ci|build|style|typo|release|deps|bump|update (?:dependency|deps)|test)\b|\bbump\b|\bdependabot\b|\btypos?\b|^merge\b|^v?\d+\.\d+/i
const CAUSE =
  /\b(?:because|root cause|caused by|due to|the reason|turned out|regress\w*|race condition|deadlock\w*|leak\w*|otherwise|incompatib\w*|silently|broke|breaks?|does(?:n['’]t| not) support|no longer)\b/gi
const STRONG_CAUSE = /\b(?:because|root cause|the reason|turned out|caused by)\b/i
const TRAILER = /^(?:[A-Z][\w-]*-by|Co-authored-by|Change-Id|Refs?|Closes|Fixes|Resolves|See also|Related)\b:?.*$/gim
const TEMPLATE = /<!--[\s\S]*?-->|^[^\S\n]*[-*] \[[ xX]\].*$|^#{1,4}\s.*$|^\*\*[^*]+\*\*:?\s*$/gm
/** Sections of a pull request that do not explain it. */
const UNUSED_SECTIONS =
  /^#{1,4}\s*(?:test(?:ing|s)?(?: plan)?|checklist|screenshots?|how (?:has|was) this|changelog|type of change)\b[\s\S]*?(?=^#{1,4}\s|$(?![\s\S]))/gim

/** Texts about the change itself. */
const PERSONAL =
  /\bmaybe\b|\bI(?:['’](?:d|m|ve|ll))?\b|\bthis (?:pr|commit|patch|change)\b|tests? (?:were|was|are|is) failing|\bflak/i

const SHORTEST = 80
const LONGEST = 1_000
const MOST_FIXED = 1
/** A file with this many fixes is proposed. */
const REPEATED_FIXES = 6
const LISTED_FIXES = 6

/** Characters of a message that are read: patterns may take the square of its length. */
const LONGEST_MESSAGE = { subject: 500, body: 10_000 } as const

const strip = (body: string): string =>
  body
    .slice(0, LONGEST_MESSAGE.body)
    .replace(/\r/g, '')
    .replace(/This reverts commit [\da-f]+\.?/gi, '')
    .replace(UNUSED_SECTIONS, '')
    .replace(TEMPLATE, '')
    .replace(TRAILER, '')
    .trim()

/** Chooses the paragraph that names a cause, with the one before it if the text goes on from there. */
function explanationOf(body: string): string | null {
  const paragraphs = body
    .split(/\n\s*\n/)
    .map((one) => one.trim())
    .filter((one) => one !== '')
  const isProse = (one: string) => !/^(?:[-*+]|\d+\.|```|\||>|https?:|@)/.test(one) && one.split(/\s+/).length >= 12
  const causes = (one: string) =>
    isProse(one) ? (one.match(CAUSE)?.length ?? 0) + (STRONG_CAUSE.test(one) ? 2 : 0) : 0
  const best = paragraphs.reduce((at, one, i) => (causes(one) > causes(paragraphs[at] ?? '') ? i : at), 0)
  const chosen = paragraphs[best]
  if (chosen === undefined || causes(chosen) === 0) return null
  const goesOn = /^(?:this|it|that|these|however|so|but|and|also|because|instead)\b/i.test(chosen)
  const before = paragraphs[best - 1]
  const both = goesOn && before !== undefined && isProse(before) ? `${before}\n\n${chosen}` : chosen
  const text = both.length <= LONGEST ? both : chosen
  return text.length >= SHORTEST && text.length <= LONGEST && !/:$/.test(text) ? text : null
}

/** Whether a path is code of the product, and no document, test, settings or generated file. */
const isCode = (path: string): boolean =>
  documentKind(path) === null &&
  !/lock|package\.json$|(?:^|\/)(?:tests?|testing|e2e|fixtures|snapshots|docs?)\/|(?:^|\/)(?:go\.(?:mod|sum)|Makefile|Dockerfile|Gemfile)$|^\.|\.(?:md|rst|snap|txt|toml|ya?ml|json|css|svg)$|(?:_test|\.test|\.spec)\./i.test(
    path,
  )

/** @param kept paths of the last commit */
function ofCommit({ id, body, paths, ...commit }: Commit, age: number, kept: ReadonlySet<string>): Candidate[] {
  const subject = commit.subject.slice(0, LONGEST_MESSAGE.subject)
  const isRevert = REVERT.test(subject)
  const isFix = FIX.test(subject)
  if ((CHORE.test(subject) && !isRevert) || /\bbot\b/i.test(body.slice(-200))) return []
  const text = explanationOf(strip(body))
  if (text === null) return []
  const sources = paths.filter(isCode)
  if (sources.length === 0) return []
  const isPresent = sources.some((path) => kept.has(path))
  if (!isPresent) return []
  const score =
    1.6 +
    (isRevert ? 1.6 : isFix ? 0 : -0.6) +
    (isFix ? 0.5 : 0) +
    (STRONG_CAUSE.test(text) ? 1 : 0) +
    0.3 * Math.min(new Set(text.toLowerCase().match(CAUSE) ?? []).size, 3) +
    0.2 * Math.min(text.match(/`[^`\n]+`/g)?.length ?? 0, 3) +
    (text.length > 250 ? 0.5 : -0.6) -
    (sources.length > 12 ? 0.5 : 0) -
    (PERSONAL.test(text) ? 1.4 : 0) -
    Math.min(age / 2_000, 1)
  const title = plain(subject).replace(/\s*\(#\d+\)\s*$/, '')
  const content = `${subject}\n\n${text}`
  return [{ kind: 'gotcha', title, content, path: null, lines: null, commit: id, score, identity: `commit ${id}` }]
}

/** Lists files with many fixes; the paths are those of the last commit. */
function repeatedFixes(commits: readonly Commit[], kept: ReadonlySet<string>): Candidate[] {
  const fixes = new Map<string, Commit[]>()
  for (const commit of commits.filter(
    ({ subject, paths }) => FIX.test(subject) && !CHORE.test(subject) && paths.length <= 8,
  ))
    for (const path of commit.paths.filter((one) => isCode(one) && kept.has(one)))
      fixes.set(path, [...(fixes.get(path) ?? []), commit])
  return [...fixes]
    .filter(([, all]) => all.length >= REPEATED_FIXES)
    .sort(([, a], [, b]) => b.length - a.length)
    .slice(0, MOST_FIXED)
    .map(([path, all]): Candidate => {
      const content = all
        .slice(0, LISTED_FIXES)
        .map(({ id, subject }) => `- ${subject} (${id.slice(0, 12)})`)
        .join('\n')
      const title = `${path} was fixed ${all.length} times`
      return {
        kind: 'gotcha',
        title,
        content,
        path,
        lines: null,
        commit: all[0]?.id ?? null,
        score: 2.3,
        identity: `fixes ${path}`,
      }
    })
}

/** Finds the candidates of a history. @param commits the newest first @param paths of the last commit */
export function candidatesOfHistory(commits: readonly Commit[], paths: readonly string[]): Candidate[] {
  const kept = new Set(paths)
  return [...commits.flatMap((commit, age) => ofCommit(commit, age, kept)), ...repeatedFixes(commits, kept)]
}
