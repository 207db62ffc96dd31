/** The promise of each core tool and of the connector, one sentence each; ids begin with `core` and `connector`. */
export const CORE = {
  'core-goal': 'returns for a goal what matters, of some kinds and since a time',
  'core-earlier': 'names the earlier memories on the subject of a new one, with the calls that record a judgement',
  'core-search': 'searches by kind, tag, person, time, thread and metadata, with and without a query',
  'core-part': 'reads a part by lines, heading or surrounding text, and lists the headings',
  'core-update': 'updates the named fields and keeps the others, and clears a field only by its name',
  'core-forget': 'forgets by ids, thread or filter, returns how to undo it, and deletes by a filter only with dry_run',
  'core-undo': 'undoes the last update of a memory by its id, and tells who changed what with a diff',
  'core-changes': 'lists changes since a time in words, by person and kind, and since the last call of the owner',
  'core-projects': 'names the most similar project where the named one has no memories',
  'connector-find': 'finds the best ten by words and meaning and brings one whole',
} as const

export type PromiseId = keyof typeof CORE

/** The title of the test that proves a promise. */
export const promise = (id: PromiseId): string => `${CORE[id]} [${id}]`
