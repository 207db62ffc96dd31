import { compareText, firstCodePoints } from '../text'
import type { Millis } from '../time'
import { decisionsIn, type Said } from './decisions'
import type { Happening, ToolUse } from './happening'
import type { Place } from './place'

/**
 * What is gathered of a session. Events may arrive in any order, and late: `at` orders them, so that the same events gather to the same
 * whatever the order in which they come.
 */
export interface Gathered {
  readonly place: Omit<Place, 'captures'> & { readonly at: number }
  /** How many there were, and the first of them. */
  readonly prompts: { readonly count: number; readonly first: readonly At[] }
  readonly files: readonly At[]
  readonly commands: readonly CommandRuns[]
  readonly decisions: readonly (Said & { readonly at: number })[]
  /** How the last answer begins. */
  readonly answer: At | null
  /** Ids of entries that were recalled in it, and how many characters prompts have brought. */
  readonly recalled: { readonly ids: readonly number[]; readonly chars: number }
}

/** Something said or touched, and when: milliseconds since 1970. */
export interface At {
  readonly at: number
  readonly text: string
}

/** One command: when it first failed, and when it last passed; both null where no client said how it went. */
interface CommandRuns {
  readonly command: string
  readonly failedAt: Millis | null
  readonly passedAt: Millis | null
}

const FIRST_PROMPTS = 3
const PROMPT = 400
const ANSWER = 400
const COMMAND = 300
const PATH = 300
/** What a session keeps of each, the first by time. */
const MOST_FILES = 60
const MOST_COMMANDS = 60
const MOST_DECISIONS = 10

/** A session of which nothing is known but where it is. */
export const beginning = (place: Place, at: number): Gathered => ({
  place: { project: place.project, branch: place.branch, audience: place.audience, at },
  prompts: { count: 0, first: [] },
  files: [],
  commands: [],
  decisions: [],
  answer: null,
  recalled: { ids: [], chars: 0 },
})

const byTime = (a: At, b: At): number => a.at - b.at || compareText(a.text, b.text)

/** A list in which a text stands once, with the time at which it first stood there; the first so many by time. */
function earliest(list: readonly At[], added: readonly At[], most: number): readonly At[] {
  const found = new Map(list.map((item) => [item.text, item.at]))
  for (const { at, text } of added) found.set(text, Math.min(found.get(text) ?? at, at))
  return [...found]
    .map(([text, at]) => ({ text, at }))
    .sort(byTime)
    .slice(0, most)
}

const least = (a: number | null, b: number | null): number | null => (a === null ? b : b === null ? a : Math.min(a, b))
const greatest = (a: number | null, b: number | null): number | null =>
  a === null ? b : b === null ? a : Math.max(a, b)

function withCommand(runs: readonly CommandRuns[], { command, outcome }: ToolUse, at: number): readonly CommandRuns[] {
  if (command === null) return runs
  const name = firstCodePoints(command.trim(), COMMAND)
  const known = runs.find((run) => run.command === name) ?? { command: name, failedAt: null, passedAt: null }
  const next = {
    command: name,
    failedAt: least(known.failedAt, outcome === 'failure' ? at : null),
    passedAt: greatest(known.passedAt, outcome === 'success' ? at : null),
  }
  // What only ever passed tells nothing, so it goes first.
  const rank = ({ failedAt, passedAt }: CommandRuns): number =>
    (failedAt === null ? 0 : 2) * 1e15 + (failedAt ?? passedAt ?? 0)
  return [...runs.filter((run) => run.command !== name), next]
    .sort((a, b) => rank(b) - rank(a) || compareText(a.command, b.command))
    .slice(0, MOST_COMMANDS)
}

function withDecisions(gathered: Gathered, who: Said['who'], text: string, at: number): Gathered['decisions'] {
  // One after the other, within the millisecond: a later sentence may take an earlier one back.
  const added = decisionsIn(text, who).map((said, i) => ({ ...said, at: at + i / 20 }))
  // Where words are said again, the last time counts, whichever arrives last.
  const inTime = [...gathered.decisions, ...added].sort((a, b) => a.at - b.at)
  const all = new Map(inTime.map((said) => [`${said.who} ${said.text}`, said]))
  return [...all.values()].sort((a, b) => b.at - a.at || compareText(a.text, b.text)).slice(0, MOST_DECISIONS)
}

/** Whether a command failed and later passed. */
export const wasMended = ({ failedAt, passedAt }: CommandRuns): boolean =>
  failedAt !== null && passedAt !== null && passedAt > failedAt

/** Words of a folder that opens them to nobody, or to another project, open to nobody what they stand in. */
const audienceOf = (one: Gathered['place'], other: Place): Place['audience'] =>
  one.project === other.project && one.audience === other.audience ? one.audience : 'private'

/** @param at when it happened, milliseconds since 1970 */
export function gather(gathered: Gathered, { what, isSubagent }: Happening, place: Place, at: number): Gathered {
  const { project, branch } = place
  const audience = audienceOf(gathered.place, place)
  const placed = {
    ...gathered,
    place: at < gathered.place.at ? { project, branch, audience, at } : { ...gathered.place, audience },
  }
  if (what.kind === 'tool')
    return {
      ...placed,
      files: earliest(
        placed.files,
        what.files.map((text) => ({ at, text: firstCodePoints(text, PATH) })),
        MOST_FILES,
      ),
      commands: withCommand(placed.commands, what, at),
    }
  if (isSubagent) return placed
  if (what.kind === 'prompt') {
    const { count, first } = placed.prompts
    const prompts = [...first, { at, text: firstCodePoints(what.text.trim(), PROMPT) }]
      .sort(byTime)
      .slice(0, FIRST_PROMPTS)
    return {
      ...placed,
      prompts: { count: count + 1, first: prompts },
      decisions: withDecisions(placed, 'user', what.text, at),
    }
  }
  if (what.kind !== 'stop' || what.answer === null || what.answer.trim() === '') return placed
  const isNewer = placed.answer === null || at >= placed.answer.at
  return {
    ...placed,
    answer: isNewer ? { at, text: firstCodePoints(what.answer.trim(), ANSWER) } : placed.answer,
    decisions: withDecisions(placed, 'agent', what.answer, at),
  }
}
