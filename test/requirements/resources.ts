/** Promises of packs.md for prompts and resources, one sentence each; ids begin with r. */
export const RESOURCES = {
  'r-offered': 'offers resources, prompts and completions at /mcp, but not if only other families are requested',
  'r-templates': 'lists the templates of readable resources, in one order',
  'r-entry': 'brings an entry as JSON by its address, with its kind',
  'r-entry-images': 'returns the images of an entry as blobs, and names them by their address',
  'r-thread': 'returns the newest 100 entries of a thread, the oldest of them first',
  'r-thread-size': 'leaves entries out that an answer has no room for, the newest last, and names them',
  'r-project':
    'returns the counts of a project, newest decisions and work in progress, without superseded or finished entries',
  'r-pack': 'compiles a pack for the goal that an address names, as Markdown',
  'r-start-session': 'starts a session with the pack of a goal, framed as data, within one project where one is named',
  'r-without-context': 'offers neither packs nor the prompt made of them where the tool for packs is switched off',
  'r-names': 'finds a thread or project of any name by an address that is percent-encoded, and by one that is not',
  'r-not-found': 'answers one error for an address of nothing, of nothing visible, and of nonsense',
  'r-list':
    'lists threads as resources by last use, twenty a page, each once, until the cursor ends, named thread:<id>',
  'r-cursor': 'refuses a cursor that no page gave',
  'r-complete': 'completes names of threads and projects by their beginning, the last used twenty first',
  'r-complete-unknown': 'completes nothing for other arguments, and refuses what it does not know',
  'r-prompts': 'lists the prompts with their arguments',
  'r-hand-off': 'asks for what is worth leaving, with tools that are listed and kinds that exist',
  'r-prompt-errors': 'refuses unknown prompts and arguments',
} as const

export type PromiseId = keyof typeof RESOURCES

/** The title of the test that proves a promise. */
export const promise = (id: PromiseId): string => `${RESOURCES[id]} [${id}]`
