import { invalidInput } from '../errors'
import { jsonText } from '../json/write'
import { unstorable, withoutTrailing } from '../text'
import { type Millis, parseInstant } from '../time'
import { isFields, objectOf, textOf } from './fields'
import type { Fields, Happening, HookClient } from './hook-event'
import { cleanEvent, type Place, readPlace } from './session-state'

/** An event of a client that is understood. */
export interface HookEvent {
  readonly id: string
  /** When it happened, milliseconds since 1970. */
  readonly at: number
  readonly place: Place
  readonly happening: Happening
}

export interface HookRequest {
  readonly events: readonly HookEvent[]
  /** The event whose answer is wanted; null for none. */
  readonly answer: string | null
  /** Ids that an event before it in the list has too. */
  readonly again: readonly string[]
  /** Events that were unknown or incomplete. */
  readonly unread: number
  /** Events that the program on the client's side had to drop since it was last heard. */
  readonly lost: number
}

/** Files below the folder are named from there on: where it lies differs from one machine to the next, and tells whose it is. */
function fromFolder(happening: Happening, folder: string | null): Happening {
  const { what } = happening
  const base = withoutTrailing(folder ?? '', '/\\')
  if (what.kind !== 'tool' || base === '') return happening
  const short = (file: string): string =>
    file.startsWith(`${base}/`) || file.startsWith(`${base}\\`) ? file.slice(base.length + 1) : file
  return { ...happening, what: { ...what, files: what.files.map(short) } }
}

/** More than a spool sends at once. */
const MOST_EVENTS = 500
const LONGEST_ID = 128

function readEvent(client: HookClient, given: unknown, now: Millis): HookEvent | null {
  if (!isFields(given)) return null
  const { id, at, event } = given
  if (typeof id !== 'string' || id === '' || id.length > LONGEST_ID || unstorable(id) !== null || !isFields(event))
    return null
  const instant =
    typeof at === 'number' && Number.isFinite(at) ? Math.floor(at) : typeof at === 'string' ? parseInstant(at) : null
  const happening = client.read(cleanEvent(event))
  if (happening === null || instant === null) return null
  // Clocks of clients may be ahead.
  const place = objectOf(given, 'place')
  return {
    id,
    at: Math.min(instant, now),
    place: readPlace(place),
    happening: fromFolder(happening, textOf(place, 'folder')),
  }
}

/**
 * A request of the hook program: `{events: [{id, at, event, place}], answer?, lost?}`.
 *
 * @param body a JSON object
 * @throws Problem invalid_input when it is not of that shape; events that are not understood are counted
 */
export function readHookRequest(client: HookClient, body: Fields, now: Millis): HookRequest {
  const { events, lost } = body
  if (!Array.isArray(events)) throw invalidInput('events must be a list of {id, at, event, place}')
  if (events.length > MOST_EVENTS)
    throw invalidInput(`events has ${events.length} items; at most ${MOST_EVENTS} are allowed`)
  const read = events.map((event) => readEvent(client, event, now))
  const understood = read.filter((event) => event !== null)
  const known = new Map(understood.toReversed().map((event) => [event.id, event]))
  return {
    events: [...known.values()].sort((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1)),
    answer: textOf(body, 'answer'),
    again: understood.filter((event) => known.get(event.id) !== event).map(({ id }) => id),
    unread: read.filter((event) => event === null).length,
    lost: typeof lost === 'number' && Number.isSafeInteger(lost) && lost > 0 ? lost : 0,
  }
}

/** Members that name the call of a tool, and the turn of a prompt. */
const NAMED_BY = {
  tool: ['tool_use_id', 'toolUseId', 'callID'],
  prompt: ['prompt_id', 'turn_id', 'generation_id'],
} as const

/**
 * What an event is told apart by where no program has given it an id: the session, the event's name and, of tools and prompts, the id of
 * the call or turn; else all that the client sent.
 */
function identityOf(event: Fields, { session, name, what }: Happening): string {
  const own = what.kind === 'tool' ? NAMED_BY.tool : what.kind === 'prompt' ? NAMED_BY.prompt : []
  const key = textOf(event, ...own) ?? textOf(objectOf(event, 'input'), ...own) ?? jsonText(event)
  return [session, name, key].join('\n')
}

/** A raw event by itself, as a client without the program sends it; null when it is not understood. */
export function readRawEvent(
  client: HookClient,
  event: Fields,
): { happening: Happening; identity: string; place: Place } | null {
  const happening = client.read(cleanEvent(event))
  if (happening === null) return null
  const folder = textOf(event, 'cwd') ?? textOf(objectOf(event, 'session'), 'directory')
  return {
    happening: fromFolder(happening, folder),
    identity: identityOf(event, happening),
    place: readPlace({ folder }),
  }
}
