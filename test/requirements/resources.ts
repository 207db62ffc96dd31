/** Promises of packs.md for prompts and resources, one sentence each; ids begin with r. */
export const RESOURCES = {
  'r-offered': 'offers resources, prompts and completions at /mcp, but not if only other families are requested',
  'r-templates': 'lists the templates of readable resources, in one order',
  'r-entry': 'returns an entry as JSON by its address, with its kind',
  'r-entry-images': 'returns the images of an entry as blobs, and names them by their address',
  'r-thread': 'returns the newest 100 entries of a thread, the oldest of them first',
  'r-thread-size': 'omits entries that do not fit into an answer, the newest last, and names them',
  'r-project':
    'returns the counts of a project, newest decisions and work in progress, without superseded or finished entries',
  'r-pack': 'compiles a pack for the goal that an address names, as Markdown',
  'r-start-session': 'starts a session with the pack of a goal, framed as data, within one project if one is named',
  'r-without-context': 'offers neither packs nor the prompt made of them where the tool for packs is switched off',
  'r-names': 'finds a thread or project of any name by an address that is percent-encoded, and by one that is not',
  'r-not-found': 'returns the same error for a missing, an invisible, and an invalid address',
  'r-list':
    'lists threads as resources by last use, twenty a page, each once, until the cursor ends, named thread:<id>',
  'r-cursor': 'refuses an invalid cursor',
  'r-complete': 'completes names of threads and projects by prefix, the last used twenty first',
  'r-complete-unknown': 'completes nothing for other arguments, and refuses unknown references',
  'r-prompts': 'lists the prompts with their arguments',
  'r-hand-off': 'asks for a hand-off note, with listed tools and existing kinds',
  'r-prompt-errors': 'refuses unknown prompts and arguments',
} as const

export type PromiseId = keyof typeof RESOURCES

/** The title of the test that proves a promise. */
export const promise = (id: PromiseId): string => `${RESOURCES[id]} [${id}]`
