// What of an item cannot be left out, where a pack has hardly room for one?
import { codePointLength, firstCodePoints } from '../text'
import type { PackItem } from './pack'

/** Code points of an item that says no more than it must: its keys alone are 300 characters, of the 400 of the smallest pack. */
const BARE = { name: 40, reason: 24 } as const
/** What of its metadata an item is not to be taken without. */
const WARNINGS = ['status', 'supersedes', 'conflicts_with', 'later']

const cut = (text: string, most: number): string =>
  codePointLength(text) > most ? `${firstCodePoints(text, most - 1)}…` : text

/** An item where there is hardly room for its content: whoever wants to know its origin, times and further fields reads it by its id. */
export const bareOf = (item: PackItem): PackItem => ({
  ...item,
  name: cut(item.name, BARE.name),
  reason: cut(item.reason.split('; ', 1)[0] ?? '', BARE.reason),
  source: item.id,
  quality: {
    origin: null,
    source: item.id,
    url: null,
    created_at: null,
    updated_at: null,
    valid_at: null,
    project_id: null,
  },
  metadata: Object.fromEntries(Object.entries(item.metadata).filter(([key]) => WARNINGS.includes(key))),
})
