import type { EntryDraft } from '../../src/domain/entry/draft'
import { prepareEntry } from '../../src/domain/entry/draft'
import type { NewEntry } from '../../src/domain/entry/entry-write'
import type { Caller, Principal } from '../../src/domain/identity/scope'
import type { Clock } from '../../src/ports/clock'

/** A caller in a new organization: tests isolate themselves by scope in place of emptying tables. */
export const freshPrincipal = (overrides: Partial<Caller> = {}): Caller => ({
  org: `org-${crypto.randomUUID()}`,
  projects: null,
  owner: 'ada',
  role: 'admin',
  agent: null,
  keyId: 'key-1',
  action: 'test',
  tool: null,
  changeId: crypto.randomUUID().replaceAll('-', ''),
  ...overrides,
})

/** A clock that the test sets. */
export class TestClock implements Clock {
  constructor(public ms = Date.UTC(2026, 10, 20, 9, 0, 0)) {}
  now(): number {
    return this.ms
  }
  advance(ms: number): void {
    this.ms += ms
  }
}

export const LIMITS = { each: 10 * 1_048_576, total: 100 * 1_048_576 }

/** A checked entry, ready for the store. */
export async function entryOf(principal: Principal, draft: Partial<EntryDraft> = {}): Promise<NewEntry> {
  const whole: EntryDraft = { threadId: 'thread', source: 'user', text: `text ${crypto.randomUUID()}`, ...draft }
  return (await prepareEntry(principal, whole, LIMITS, 0)).entry
}

/** A one-pixel PNG with a comment after it, so that every call returns different bytes. */
export function pngBytes(note = ''): Uint8Array {
  const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
  const bytes = Uint8Array.from(atob(pixel), (char) => char.charCodeAt(0))
  return new Uint8Array([...bytes, ...new TextEncoder().encode(note)])
}

export const base64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes))
