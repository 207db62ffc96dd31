import { codePointLength, firstCodePoints, trim, WHITE_SPACE_RUN } from '../text'
import { isAgreement, saysSomething } from './decisions'
import { type Answer, type At, type CommandRuns, isOpen, type SessionState, wasFixed } from './session-state'

/** The entry that is written about a session (capture contract §3). */
export interface Checkpoint {
  readonly title: string
  readonly text: string
  /**
   * Amount of work: `none` if the session changed no file, fixed no failure, decided nothing and left nothing open;
   * `small` if it only changed one file.
   */
  readonly work: 'none' | 'small' | 'some'
}

const LONGEST = 6_000
const TITLE = 80
/** Maximum characters of each list of files or commands. */
const LIST = 800
/** Fraction of the characters for turns that prompts can use before answers. */
const PROMPTS = 0.5
const LAST_ANSWER = 600

const oneLine = (text: string): string => trim(text.replace(WHITE_SPACE_RUN, ' '))

/** Joins as many items as fit, with the number of further ones. */
function joined(items: readonly string[], separator: string): string {
  const shown: string[] = []
  let length = 0
  for (const item of items) {
    length += codePointLength(item) + separator.length
    if (shown.length > 0 && length > LIST) break
    shown.push(item)
  }
  const more = items.length - shown.length
  return shown.join(separator) + (more === 0 ? '' : `${separator}and ${more} more`)
}

const listed = (title: string, items: readonly string[]): string[] =>
  items.length === 0
    ? []
    : [
        `${title}:\n${joined(
          items.map((item) => `- ${item}`),
          '\n',
        )}`,
      ]

/** A prompt and the final answer to it. */
interface Turn {
  readonly at: number
  readonly prompt: string | null
  readonly answer: string | null
  /** Whether files changed, a failure was fixed or something was decided. */
  readonly works: boolean
}

function turnsOf({ prompts, answers, files, commands, decisions }: SessionState): Turn[] {
  const starts: readonly (At | null)[] = prompts.told.length === 0 ? [null] : prompts.told
  return starts.map((prompt, i) => {
    const from = i === 0 ? 0 : (prompt?.at ?? 0)
    const to = starts[i + 1]?.at ?? Number.POSITIVE_INFINITY
    const isIn = (at: number | null): boolean => at !== null && at >= from && at < to
    const answer = answers.told.findLast(({ at }) => isIn(at)) ?? null
    const works =
      files.some(({ at, last }) => isIn(at) || isIn(last)) ||
      commands.some((runs) => wasFixed(runs) && isIn(runs.passedAt)) ||
      decisions.some(({ at }) => isIn(at))
    return { at: from, prompt: prompt?.text ?? null, answer: answer?.text ?? null, works }
  })
}

/** Characters for each text so that all fit: equal parts, by weight, at most its length. */
function parts(texts: readonly { readonly length: number; readonly weight: number }[], budget: number): number[] {
  let [low, high] = [0, budget]
  const taken = (part: number): number =>
    texts.reduce((sum, { length, weight }) => sum + Math.min(length, part * weight), 0)
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2)
    if (taken(middle) <= budget) low = middle
    else high = middle
  }
  return texts.map(({ length, weight }) => Math.min(length, low * weight))
}

/** Cuts a text and marks the cut. */
const cut = (text: string, most: number): string =>
  codePointLength(text) <= most ? text : `${trim(firstCodePoints(text, Math.max(1, most - 1)))}…`

/** Prompts and answers of all turns, within a number of characters. */
function told(turns: readonly Turn[], budget: number): string {
  const room = budget - turns.length * 8
  const sizes = (of: (turn: Turn) => string | null) =>
    turns.map((turn) => ({ length: codePointLength(of(turn) ?? ''), weight: turn.works ? 2 : 1 }))
  const ofPrompts = parts(
    sizes(({ prompt }) => prompt).map((one) => ({ ...one, weight: 1 })),
    Math.floor(room * PROMPTS),
  )
  const left = room - ofPrompts.reduce((sum, size) => sum + size, 0)
  const ofAnswers = parts(
    sizes(({ answer }) => answer),
    left,
  )
  return turns
    .flatMap(({ prompt, answer }, i) => [
      ...(prompt === null ? [] : [`- ${cut(prompt, ofPrompts[i] ?? 0)}`]),
      ...(answer === null || (ofAnswers[i] ?? 0) < 20 ? [] : [`  > ${cut(answer, ofAnswers[i] ?? 0)}`]),
    ])
    .join('\n')
}

/** A command that succeeds again, with the files changed in between. */
function mendedLine({ files }: SessionState, { command, failedAt, passedAt }: CommandRuns): string {
  const isBetween = (at: number): boolean => at >= (failedAt ?? 0) && at <= (passedAt ?? 0)
  const between = files.filter(({ at, last }) => isBetween(at) || isBetween(last)).map(({ text }) => oneLine(text))
  const after = between.length === 0 ? '' : ` (after changes of ${between.slice(0, 5).join(', ')})`
  return `${oneLine(command)}${after}`
}

/** Proposals that the next prompt accepts. */
function agreed({ prompts, answers }: SessionState): At[] {
  return prompts.told.flatMap(({ at, text }) => {
    if (!isAgreement(text)) return []
    const before: Answer | undefined = answers.told.findLast((answer) => answer.at < at)
    const isNext = before !== undefined && !prompts.told.some((other) => other.at > before.at && other.at < at)
    return isNext && before.proposal !== undefined ? [{ at, text: `Agreed: ${before.proposal}` }] : []
  })
}

function workOf({ files, commands }: SessionState, decisions: number): Checkpoint['work'] {
  if (decisions > 0 || files.length > 1 || commands.some((runs) => wasFixed(runs) || isOpen(runs))) return 'some'
  return files.length === 1 ? 'small' : 'none'
}

/**
 * Creates the checkpoint of a session; null if it has no file, no command and at most one prompt.
 * @param client name of the client for people
 */
export function checkpointOf(gathered: SessionState, client: string): Checkpoint | null {
  const { place, prompts, files, commands, findings } = gathered
  if (files.length === 0 && commands.length === 0 && prompts.count <= 1) return null
  const turns = turnsOf(gathered)
  const saying = turns.filter(({ prompt }) => prompt === null || saysSomething(prompt))
  const title = firstCodePoints(saying[0]?.prompt ?? prompts.told[0]?.text ?? '', TITLE) || `Session of ${client}`
  const where = [place.project ?? 'no project', ...(place.branch === null ? [] : [`branch ${place.branch}`])].join(', ')
  const decisions = [...gathered.decisions, ...agreed(gathered)].sort((a, b) => a.at - b.at)
  const paths = files.map(({ text }) => oneLine(text))
  const last = turns.findLast(({ answer }) => answer !== null)
  const head = [
    `${client} in ${where}.`,
    ...listed(
      'Decided',
      decisions.map(({ text }) => oneLine(text)),
    ),
    ...listed(
      'Failed, later passed',
      commands.filter(wasFixed).map((runs) => mendedLine(gathered, runs)),
    ),
    ...listed(
      'Failed, not passed since',
      commands.filter(isOpen).map(({ command }) => oneLine(command)),
    ),
    ...listed(
      'Found',
      findings.toSorted((a, b) => a.at - b.at).map(({ text }) => oneLine(text)),
    ),
    ...(paths.length === 0 ? [] : [`Files: ${joined(paths, ', ')}`]),
    ...(last?.answer == null ? [] : [`The last answer begins: ${cut(last.answer, LAST_ANSWER)}`]),
  ].join('\n\n')
  // A last answer that fits into its line is not repeated.
  const others = turns.map((turn) =>
    turn === last && codePointLength(turn.answer ?? '') <= LAST_ANSWER ? { ...turn, answer: null } : turn,
  )
  const shown = others.filter(({ prompt, answer }) => answer !== null || (prompt !== null && saysSomething(prompt)))
  const rest = LONGEST - codePointLength(head) - 20
  const body = shown.length === 0 || rest < 200 ? '' : `\n\nAsked:\n${told(shown, rest)}`
  return { title, text: firstCodePoints(head + body, LONGEST), work: workOf(gathered, decisions.length) }
}
