import { invalidInput } from '../errors'
import { jsonText } from '../json/write'
import { unstorable, withoutTrailing } from '../text'
import { type Millis, parseInstant } from '../time'
import type { ClientEvent, Fields, HookClient } from './hook-event'
import { isFields, objectOf, textOf } from './json-fields'
import { cleanEvent, type Place, readPlace } from './session-state'

/** A parsed client event. */
export interface HookEvent {
  readonly id: string
  /** Time of the event, milliseconds since 1970. */
  readonly at: number
  readonly place: Place
  readonly happening: ClientEvent
}

export interface HookRequest {
  readonly events: readonly HookEvent[]
  /** ID of the event whose answer is requested; null for none. */
  readonly answer: string | null
  /** IDs that occur more than once in the list. */
  readonly again: readonly string[]
  /** Number of unknown or incomplete events. */
  readonly unread: number
  /** Number of events that the hook program dropped since its last request. */
  readonly lost: number
}

/** Makes paths of files relative to the folder, because its location differs between machines and can name the user. */
function fromFolder(happening: ClientEvent, folder: string | null): ClientEvent {
  const { what } = happening
  const base = withoutTrailing(folder ?? '', '/\\')
  if (what.kind !== 'tool' || base === '') return happening
  const short = (file: string): string =>
    file.startsWith(`${base}/`) || file.startsWith(`${base}\\`) ? file.slice(base.length + 1) : file
  return { ...happening, what: { ...what, files: what.files.map(short) } }
}

/** Maximum number of events in a request, more than the hook program sends at once. */
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
  // Client clocks can be ahead.
  const place = objectOf(given, 'place')
  return {
    id,
    at: Math.min(instant, now),
    place: readPlace(place),
    happening: fromFolder(happening, textOf(place, 'folder')),
  }
}

/**
 * Parses a request of the hook program: `{events: [{id, at, event, place}], answer?, lost?}`.
 * @param body a JSON object
 * @throws Problem invalid_input for another shape; unknown events are counted
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

/** Members with the ID of a tool call, or of a prompt. */
const NAMED_BY = {
  tool: ['tool_use_id', 'toolUseId', 'callID'],
  prompt: ['prompt_id', 'turn_id', 'generation_id'],
} as const

/**
 * Identifies an event without an ID: by session, event name and, for tools and prompts, the ID of the call or message;
 * else by its complete content.
 */
function identityOf(event: Fields, { session, name, what }: ClientEvent): string {
  const own = what.kind === 'tool' ? NAMED_BY.tool : what.kind === 'prompt' ? NAMED_BY.prompt : []
  const key = textOf(event, ...own) ?? textOf(objectOf(event, 'input'), ...own) ?? jsonText(event)
  return [session, name, key].join('\n')
}

/** Parses an event sent without the hook program; null for an unknown event. */
export function readRawEvent(
  client: HookClient,
  event: Fields,
): { happening: ClientEvent; identity: string; place: Place } | null {
  const happening = client.read(cleanEvent(event))
  if (happening === null) return null
  const folder = textOf(event, 'cwd') ?? textOf(objectOf(event, 'session'), 'directory')
  return {
    happening: fromFolder(happening, folder),
    identity: identityOf(event, happening),
    place: readPlace({ folder }),
  }
}
