import { languageOf, normalizeLanguage } from '../../code/languages'
import type { EventMemory, EventOutcome } from './event'
import type { Payload } from './payload'

/** Parts of what an event leaves: paragraphs, the language of a file, an outcome with one memory. */

export const paragraphs = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join('\n')

/** The language that was named, else that of the file. */
export const languageIn = (payload: Payload, path: string): string => {
  const named = payload.text('language').trim()
  return named === '' ? languageOf(path) : normalizeLanguage(named)
}

export const done = (
  memory: EventMemory,
  action: string,
  message: string,
  more: Partial<EventOutcome> = {},
): EventOutcome => ({ memories: [memory], actions: [action], message, failure: null, file: null, ...more })
