// Finds passages of documents that a colleague should know, and decides how much each one tells.
import { ANAPHORIC, linesOf, type Passage, passagesOf, type Section, sectionsOf } from './sections'

export interface SourceFile {
  /** From the top of the repository, with `/`. */
  readonly path: string
  readonly text: string
}

/** A memory that a repository's own text suggests. */
export interface Candidate {
  readonly kind: 'decision' | 'convention' | 'procedure' | 'gotcha' | 'note'
  readonly title: string
  /** Text of the source, never another one. */
  readonly content: string
  /** A path, and its lines if the text is in the file. */
  readonly path: string | null
  readonly lines: { readonly from: number; readonly to: number } | null
  /** The commit whose message it is; null for text of a file. */
  readonly commit: string | null
  /** How much it tells a colleague; candidates below 3 are usually not proposed. */
  readonly score: number
  /** Identifies the candidate in the repository when other text was added around it. */
  readonly identity: string
}

export type DocumentKind =
  | 'record'
  | 'agent rules'
  | 'post-mortem'
  | 'contributing'
  | 'development'
  | 'docs'
  | 'changelog'

const DOCUMENT = /\.(?:md|mdx|mdc|markdown|rst|adoc|txt)$/i
const RECORD =
  /(?:^|\/)(?:adrs?|decisions?|decision-records?|architecture-decisions?|design-decisions?)\/(?:.*\/)?[^/]+$|(?:^|\/)(?:adr|lep|rfc)[-_]?\d+[^/]*\.\w+$/i
const INDEX = /(?:^|\/)(?:readme|index|template|[^/]*-template|0*-template|toc|summary)\.[a-z]+$/i
const AGENT_RULES =
  /(?:^|\/)(?:AGENTS|CLAUDE|GEMINI)\.md$|(?:^|\/)\.cursor\/rules\/|(?:^|\/)\.cursorrules$|copilot-instructions\.md$|\.github\/instructions\/|\.windsurfrules$|\.clinerules$/
const CONTRIBUTING =
  /(?:^|\/)(?:CONTRIBUTING|DEVELOPMENT|DEVELOPING|DEVELOPER|HACKING|STYLE(?:[_-]?GUIDE)?|MAINTAINERS?|MAINTAINING|RELEAS(?:E|ES|ING)|ARCHITECTURE|DESIGN|TESTING|commit-convention)(?:\.[a-z]+)?$/i
const DEVELOPMENT =
  /(?:^|\/)(?:[^/]*(?:contribut|develop|internal|architect|design|maint|releasing|release-(?:process|guide|checklist|procedure|policy)|convention|style-?guide|guideline|runbook|operations|layout|structure|process|triage|workflow|debugging|coding|hacking|codebase|implementation|compatib|polic(?:y|ies)|versioning|philosophy|principles|known-issues|caveat|limitation)[^/]*)(?:\/|\.[a-z]+$)/i
/** Folders of guides for contributors. */
const GUIDE = /\/(?:contribut\w*|develop(?:ment|ing)|dev|maint\w*|hacking)\/|\/contributing\.\w+$/i
const POST_MORTEM = /(?:post-?mortems?|incidents?|retrospectives?)(?:\/|[^/]*\.[a-z]+$)/i
const CHANGELOG = /(?:^|\/)(?:CHANGELOG|CHANGES|HISTORY|BREAKING[_-]CHANGES|MIGRATION|UPGRADING)(?:\.[a-z]+)?$/i
/** Texts of others, data of tests, and translations. */
const FOREIGN =
  /(?:^|\/)(?:node_modules|vendor|third_party|fixtures?|testdata|tests?|__tests__|examples?|samples?|dist|templates?|resources|snapshots|i18n|locales?|translations?|versioned_docs|(?:zh|ja|ko|fr|es|de|pt|ru|it|tr|vi|id|pl|uk)(?:[-_][a-z]{2,4})?)\/|\.(?:zh|ja|ko|fr|es|de|pt|ru)(?:[-_]\w+)?\.md$/i
const NOT_READ =
  /(?:CODE[-_]OF[-_]CONDUCT|LICENSE|NOTICE|AUTHORS|CONTRIBUTORS|BACKERS|SPONSORS|THANKS|ISSUE_TEMPLATE|PULL_REQUEST_TEMPLATE|robots\.txt|requirements)/i

/** Announcements of versions repeat the changelog. */
const ANNOUNCEMENT =
  /(?:^|\/)(?:(?:announce\w*|releases|release[-_]?notes?|whats?[-_]?new|news|blog)\/|(?:announce|release[-_]?notes?|whats?[-_]?new|news)[^/]*\.\w+$)/i
/** Names of documents without an ending. */
const UPPER_CASE = /(?:^|\/)[A-Z]+$/

/** Returns what a document is for; null if `learn` does not read it. @param path from the top of the repository, with `/` */
export function documentKind(path: string): DocumentKind | null {
  if (FOREIGN.test(path) || NOT_READ.test(path)) return null
  if (AGENT_RULES.test(path)) return 'agent rules'
  if (CHANGELOG.test(path)) return DOCUMENT.test(path) || UPPER_CASE.test(path) ? 'changelog' : null
  if (ANNOUNCEMENT.test(path)) return null
  if (CONTRIBUTING.test(path) && (DOCUMENT.test(path) || UPPER_CASE.test(path))) return 'contributing'
  if (!DOCUMENT.test(path)) return null
  if (RECORD.test(path)) return INDEX.test(path) ? null : 'record'
  if (POST_MORTEM.test(path)) return 'post-mortem'
  const isInDocs = /^(?:docs?|documentation|doc|site|website|specs?|\.github)\//i.test(path)
  if (isInDocs && GUIDE.test(path)) return 'contributing'
  if (isInDocs && DEVELOPMENT.test(path)) return 'development'
  return isInDocs || /(?:^|\/)README\.[a-z]+$/i.test(path) || !path.includes('/') ? 'docs' : null
}

const RULE =
  /\b(?:must(?: not)?|never|always|do not|don['’]t|should(?: not|n['’]t)?|avoid|cannot|can['’]t|required? to|requires?|prefer(?:red)?|make sure|ensure|only (?:if|when|use|for|in)|instead of|not allowed|forbidden|is an error|no longer|by hand|remember to|be careful|beware|watch out|does(?: not|n['’]t) work|not (?:sufficient|enough|supported|guaranteed)|needs? to|keep in mind|at least|at most|no more than|are limited to|may only|shall(?: not)?)\b/gi
const STRONG =
  /\b(?:MUST|NEVER|ALWAYS|DO NOT|NOT|IMPORTANT|WARNING|CRITICAL)\b|\*\*(?:Important|Never|Always|Do not|Don['’]t|Note)\b/
const CAUSE =
  /\b(?:because|root cause|caused by|due to|the reason|otherwise|turned out|so that|in order to|since (?:the|we|it|this|they)|as a result|which (?:means|causes|breaks)|to (?:avoid|prevent|keep|ensure)|rather than|breaks?|silently)\b/gi
const GOOD_HEADING =
  /\b(?:rules?|conventions?|guidelines?|style|tests?|testing|releas\w*|commit\w*|pull requests?|architecture|design|structure|layout|decisions?|caveats?|limitations?|gotchas?|pitfalls?|known issues|troubleshooting|security|performance|compatib\w*|deprecat\w*|version\w*|naming|errors?|logging|workflows?|debugging|migrat\w*|important|notes?|warnings?|lessons?|policy|requirements?|dependenc\w*|generated|review\w*|backport\w*|benchmark\w*|lint\w*|format\w*|invariants?|concurrency|principles?|philosophy|internals?|how it works|merg\w*|branch\w*)\b/i
const BAD_HEADING =
  /\b(?:install\w*|getting started|quick ?start|badges?|sponsors?|backers|licen[sc]e|contributors|acknowledge?ments?|credits?|community|support|contents|toc|links|resources|see also|further reading|references?|contact|code of conduct|thanks|welcome|who uses|showcase|features|what is|why|related|about|first contribution|bug reports?|report(?:ing)? (?:an? |the )?(?:bugs?|issues?|security \w+)|feature requests?|asking|find(?:ing)? (?:an? )?issues?|help|questions|reporting|discord|slack|social|donat\w*|team|authors?|trivial|prerequisites|overview|introduction)\b/i
const CHATTER =
  /^(?:\W*)(?:thank|welcome|hi\b|hello|we(?:'re| are) (?:glad|happy|excited|thrilled)|if you (?:want|would like|have|are looking|need|enjoy)|feel free|check out|see\b|read\b|refer to|for (?:more|further|details)|learn more|this (?:document|guide|page|file|section)|you can (?:find|also|read)|please (?:see|read|refer|feel)|join\b|follow us)/i
const INSTALL =
  /\b(?:npm i(?:nstall)?|npx|pip install|brew install|cargo install|go install|apt(?:-get)? install|yarn add|curl -|git clone|docker (?:run|pull))\b/i
const LINK = /\[[^\]]*\]\([^)]*\)|\[[^\]]*\]\[[^\]]*\]|https?:\/\/\S+|`[^`]*<[^>]*>`_/g
/** Links that leave the repository, or that are defined elsewhere. */
const FAR_LINK = /\[[^\]]*\]\(https?:[^)]*\)|\[[^\]]*\]\[[^\]]*\]|(?<!\()https?:\/\/\S+|`[^`]*<[^>]*>`_/g
const CODE = /`[^`\n]+`/g

const BASE: Readonly<Record<DocumentKind, number>> = {
  record: 5,
  'agent rules': 2.6,
  'post-mortem': 2.5,
  contributing: 1.4,
  development: 1.4,
  docs: -1.1,
  changelog: -2,
}

/** Pages for users of the product. */
const REFERENCE =
  /(?:^|\/)(?:api|guides?|learn|tutorials?|how-?to|reference|config\w*|cli|usage|blog|examples?|faq|manual|commands?|rules|plugins?|integrations?)(?:\/|\.\w+$)/i
const NEGATIVE = /\b(?:avoid|not|never|don['’]t|without|wrong|bad|except|unless)\b/i
/** Steps of every project. */
const GENERIC =
  /\b(?:fork the|create a (?:new )?(?:topic |feature )?branch|good first issue|code of conduct|by participating|your first|be respectful|we (?:love|appreciate|welcome)|google it|stack overflow|license(?:d)? under|search (?:the )?(?:existing )?issues|disrespectful|first impression|don['’]t be discouraged|sign off on|congratulations|never commit directly to your|make the code or documentation changes|basically done|your time is well spent|helpful, insightful)\b/i

/** Returns the fraction of lines that are code: fenced, or indented as in reStructuredText. */
function codeShare(text: string): number {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  let isFenced = false
  const code = lines.filter((line) => {
    const isFence = /^\s*(?:```|~~~)/.test(line)
    if (isFence) isFenced = !isFenced
    return isFence || isFenced || /^ {4,}[^-*\d\s]/.test(line)
  })
  return code.length / Math.max(1, lines.length)
}

/** The first line of a callout that warns. */
const IS_WARNING = /warning|caution|important|danger|attention/i
/** Added to documents of a repository with few of them. */
const FOR_DEVELOPERS = 1.4

const count = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0

/** Rates how much a passage tells a colleague: rules, reasons and names of things, without links, thanks and installation. */
function scoreOf(
  passage: Passage,
  kind: DocumentKind,
  { isReference = false, hasFewDocs = false, isReadme = false } = {},
): number {
  const { text, headings, isCallout, introduction } = passage
  // Without its introduction, an item of a list such as `Please avoid:` says the opposite.
  if (introduction !== null && NEGATIVE.test(introduction)) return 0
  const own = headings.at(-1) ?? ''
  const prose = text.replace(LINK, (link) => /^\[([^\]]*)\]/.exec(link)?.[1] ?? '')
  const linked = count(text, FAR_LINK)
  const words = prose.split(/\s+/).length
  const isListOfLinks = linked >= 2 && linked * 7 > words
  const path = headings.slice(1)
  let score = BASE[kind] - (introduction === null ? 0 : 0.8) - (isReference ? 1.5 : 0) - (GENERIC.test(prose) ? 1.5 : 0)
  if (kind === 'docs' && isReadme) score += 1
  else if (kind === 'docs' && !isReference && hasFewDocs) score += FOR_DEVELOPERS
  if (kind !== 'agent rules' && ANAPHORIC.test(plain(text))) score -= 1.2
  if (kind === 'docs' && codeShare(text) > 0.5) score -= 1.5
  score += 0.9 * Math.min(new Set(prose.toLowerCase().match(RULE) ?? []).size, 3) + (STRONG.test(prose) ? 0.6 : 0)
  score += 1.1 * Math.min(new Set(prose.toLowerCase().match(CAUSE) ?? []).size, 2)
  score += 0.35 * Math.min(count(prose, CODE), 3)
  if (path.some((one) => GOOD_HEADING.test(one))) score += 0.7
  if (BAD_HEADING.test(own)) score -= 2.5
  else if (path.some((one) => BAD_HEADING.test(one))) score -= 1
  if (CHATTER.test(prose.replace(/^[\s>*\-\d.]+/, ''))) score -= 1.5
  if (INSTALL.test(text) && count(prose, RULE) < 2) score -= 1.2
  if (isListOfLinks) score -= 2.5
  if (isCallout) score += IS_WARNING.test(text.split('\n')[0] ?? '') ? 1.5 : 0.4
  if (words < 12) score -= 1.5
  if (words > 25) score += 0.4
  if (/:\s*$/.test(prose.trim())) score -= 2
  return score
}

const SHORTEST = 50
const TITLE_LENGTH = 110

/** Removes the marks of Markdown and reStructuredText from a line of text. */
export const plain = (text: string): string =>
  text
    .replace(/^\s*>?\s*\[!\w+\]\s*/i, '')
    .replace(/\{\{[%<]\s*\/?\s*\w+[^}]*\}\}/g, '')
    .replace(/^\s*(?::::\s*\w+|!!!\s*\w+|\.\. \w+::|`{3,}\{\w+\}|<!--[^>]*-->)\s*/, '')
    .replace(/^[\s>]*(?:[-*+•]|\d+[.)]|#\.)\s+(?:\[[ x]\]\s+)?/, '')
    .replace(/!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])/g, '$1')
    .replace(/:\w+:`~?([^`]*)`/g, '$1')
    .replace(/`([^`<]*?)\s*<[^>]*>`_+/g, '$1')
    .replace(/[*`]|(?<!\w)_|_(?!\w)/g, '')
    .replace(/\s*\{#[^}]*\}/g, '')
    .replace(/\s+/g, ' ')
    .trim()

/** Shortens a text to its first sentence, at most `most` characters. */
function firstSentence(text: string, most = TITLE_LENGTH): string {
  const flat = plain(text.replace(/^\s*>\s?/gm, ''))
  const sentence = /^.{15,}?[.!?](?= |$)/.exec(flat)?.[0] ?? flat
  if (sentence.length <= most) return sentence.replace(/[.:]$/, '')
  return `${sentence.slice(0, most - 1).replace(/\s+\S*$/, '')}…`
}

/** Makes a title that can be read without the document: the headings below the document's title, then the first sentence. */
function titleOf({ headings, text }: Pick<Passage, 'headings' | 'text'>): string {
  const path = headings.map(plain).filter(Boolean)
  const near = (path.length > 1 ? path.slice(1) : path).slice(-2).join(' › ')
  const sentence = firstSentence(text, Math.max(50, TITLE_LENGTH - near.length - 2))
  return near === '' || near.length > 70 ? firstSentence(text) : `${near}: ${sentence}`
}

function kindOf({ text, isCallout }: Passage, kind: DocumentKind): Candidate['kind'] {
  if (kind === 'post-mortem' || (isCallout && IS_WARNING.test(text.split('\n')[0] ?? ''))) return 'gotcha'
  const steps = count(text, /^\s*(?:\d+[.)]|#\.)\s+/gm)
  if (steps >= 2 || /^\s*(?:```|~~~)(?:sh|bash|console|shell)/m.test(text)) return 'procedure'
  return count(text, RULE) > 0 ? 'convention' : 'note'
}

/** Returns lower-case words: candidates with equal ones are the same. */
export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []

function candidateOf(
  { path }: SourceFile,
  { from, to, text }: Pick<Passage, 'from' | 'to' | 'text'>,
  more: Pick<Candidate, 'kind' | 'title' | 'score'>,
): Candidate {
  return { ...more, content: text, path, lines: { from, to }, commit: null, identity: wordsOf(text).join(' ') }
}

const ENDED = /\b(?:superseded|rejected|deprecated|withdrawn|abandoned|replaced by)\b/i
const DECISION =
  /^(?:\d+\.?\s*)?(?:the\s+)?(?:decisions?(?! records?\b)|decision outcome|outcome|resolution|solution|chosen option|recommendation)\b/i
const LEAD_IN = /^(?:decision|choice|chosen option|resolution|outcome)[.:]/i
/** Sections that describe a decision where the section of that name only states that it was accepted. */
const DESIGN =
  /^(?:\d+\.?\s*)?(?:proposed |detailed |chosen )?(?:design|implementation|approach|solution|proposal|specification)\b/i
const CONSEQUENCES = /^(?:\d+\.?\s*)?(?:negative consequences|consequences|negative)\b/i
const MOST_RECORD = 1_400

/** Returns the decision of a record, unless it was superseded or rejected: the section of that name, else its first long paragraph. */
function ofRecord(file: SourceFile): Candidate[] {
  const lines = linesOf(file.text)
  const sections = sectionsOf(lines, file.path)
  const title = sections[0]?.headings[0]
  const isTitled = sections.every(({ headings }) => headings[0] === title)
  const pathOf = ({ headings }: Section) => (isTitled ? headings.slice(1) : headings).map(plain)
  const named = (pattern: RegExp) => sections.find((section) => pattern.test(pathOf(section).at(-1) ?? ''))
  const textOf = (section: Section | undefined) =>
    section === undefined ? '' : lines.slice((section.blocks[0]?.from ?? 1) - 1, section.blocks.at(-1)?.to).join('\n')
  const head = lines.slice(0, 25)
  const noted = head.find((line) => /^\W*status\W/i.test(line)) ?? ''
  const isReplaced = head.some((line) => /\bsuperseded by\b/i.test(line))
  if (isReplaced || ENDED.test(`${textOf(named(/^status/i))} ${noted}`)) return []
  const heading = sections.flatMap(({ headings }) => headings)[0]
  if (heading === undefined) return []
  const passagesIn = (section: Section | undefined): Passage[] => {
    if (section === undefined) return []
    // A decision goes on in its section as far as the limit allows.
    const [first, ...others] = section.blocks
    if (first === undefined) return []
    let to = first.to
    for (const { to: end } of others) {
      if (lines.slice(first.from - 1, end).join('\n').length > MOST_RECORD) break
      to = end
    }
    const text = lines
      .slice(first.from - 1, to)
      .join('\n')
      .trim()
    return text.length > MOST_RECORD
      ? []
      : [{ headings: section.headings, from: first.from, to, text, isCallout: false, introduction: null }]
  }
  // `Accepted`, `Option B` and `described below` tell nothing without the section that describes the decision.
  const isTelling = ({ text }: Passage) =>
    text.length >= SHORTEST &&
    !/:\s*$/.test(text) &&
    !(text.length < 200 && /\bTBD\b|\b(?:described|see|listed) (?:below|above)\b/i.test(text))
  const below = (pattern: RegExp) =>
    sections
      .filter((section) => pathOf(section).some((one) => pattern.test(one)))
      .flatMap(passagesIn)
      .find(isTelling)
  // Short records begin a paragraph with the word, in bold, instead of a heading.
  const begun = sections
    .map(({ headings, blocks }) => {
      const at = blocks.findIndex(({ from }) => LEAD_IN.test(plain(lines[from - 1] ?? '')))
      return { headings, blocks: at < 0 ? [] : blocks.slice(at) }
    })
    .flatMap(passagesIn)
    .find(isTelling)
  const decided = below(DECISION) ?? begun ?? below(DESIGN)
  if (decided === undefined) return []
  const name = plain(heading)
    .replace(/^decision records?\W+/i, '')
    .replace(/^(?:ADR|RFC|LEP)?[-\s#]*\d+\s*[:.\-–—]\s*/i, '')
  const isProposed = /\b(?:proposed|draft|in review)\b/i.test(`${textOf(named(/^status/i))} ${noted}`)
  const decision = candidateOf(file, decided, { kind: 'decision', title: name, score: isProposed ? 4 : 6 })
  const costs = below(CONSEQUENCES)
  if (costs === undefined || count(costs.text, RULE) + count(costs.text, CAUSE) < 2) return [decision]
  return [decision, candidateOf(file, costs, { kind: 'decision', title: `${name}: consequences`, score: 3.2 })]
}

/** Lines of a changelog that are read: older changes are rarely news. */
const RECENT_LINES = 800
/** A longer list of changes is not a single fact. */
const MOST_CHANGES = 3
const LESSON = /root cause|lesson|what went wrong|action items?|cause|prevent|learned/i

/**
 * Finds the candidates of a document.
 *
 * @param hasFewDocs whether the repository has few documents: these are for its developers, and not a website for users
 */
export function candidatesOf(file: SourceFile, hasFewDocs = false): Candidate[] {
  const kind = documentKind(file.path)
  if (kind === null) return []
  if (kind === 'record') return ofRecord(file)
  const isRecent = ({ from, text }: Passage) =>
    kind !== 'changelog' || (from <= RECENT_LINES && count(text, /^\s*[-*+]\s/gm) <= MOST_CHANGES)
  const lines = linesOf(file.text)
  const passages = sectionsOf(lines, file.path)
    .flatMap((section) => passagesOf(section, lines))
    .filter(isRecent)
  return passages
    .filter(({ text }) => text.length >= SHORTEST)
    .map((passage) => {
      const isLesson = kind === 'post-mortem' && passage.headings.some((one) => LESSON.test(one))
      const score =
        scoreOf(passage, kind, {
          isReference: kind === 'docs' && REFERENCE.test(file.path),
          hasFewDocs,
          isReadme: /^README\.\w+$/i.test(file.path),
        }) + (isLesson ? 2 : 0)
      return candidateOf(file, passage, { kind: kindOf(passage, kind), title: titleOf(passage), score })
    })
}
