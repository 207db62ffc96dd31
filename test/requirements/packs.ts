/** Promises of the packs contract, one sentence each; a promise is the title of the test that proves it. */
export const PACKS = {
  'p1-list': 'lists context and remember under their own path and with the others',
  'p2-remember': 'stores a titled memory verbatim in layer 2, by kind, project, domain, agent, tags and source',
  'p2-metadata': 'applies an audience or project that only the metadata state, and refuses contradicting arguments',
  'p2-refused': 'refuses an invalid memory and reports all errors, an unknown kind with the list of kinds',
  'p2-links': 'links to the named entries, in both forms of reference, or stores nothing',
  'p2-conflicts': 'names entries of the same kind and project with the same title or nearly the same text',
  'p2-equal':
    'stores a memory once if its title, text, kind, project, owner and audience equal those of another, and names differences',
  'p2-work-status':
    'reads the status of work from common words, preserves the word as it was sent, and warns of an unknown word',
  'p2-supersede': 'removes a superseded entry from packs at once, and includes it again when its successor is deleted',
  'p3-keys': 'answers a pack with all of its keys',
  'p3-refused': 'requires a goal, and refuses unknown intents, layers and budgets',
  'p3-intent': 'places each section by its best item, whatever the intent, and hides none',
  'p3-limit': 'adjusts the limit silently to its bounds and the cap of the layer, and counts omitted entries',
  'p3-work': 'starts with work in progress, omits archived work, and lists finished work with learnings as prior art',
  'p3-left-out': 'omits expired and deleted entries, but none with the name or subject of a later one',
  'p3-one-subject': 'includes entries that contain every word of a goal, also if every entry does, and all of a series',
  'p3-duplicates': 'collapses near-duplicates into the best one',
  'p3-contradicts': 'shows both sides of a contradiction, each naming the other',
  'p3-floor': 'returns nothing for an unrelated goal, and comparable scores in every call',
  'p3-names': 'finds entries with the same error code, path, function or version',
  'p3-called': 'ranks an entry first whose alias is in the goal, also with a typo',
  'p3-related':
    'names linked entries in both directions up to the limit, two steps away in a deep search, none at wake',
  'p3-vocabularies': 'uses entries of every vocabulary, typed or not',
  'p3-domain': 'prefers a domain and omits no other',
  'p3-same': 'answers the same call with the same bytes',
  'p3-budget': 'keeps sections and markdown within the budget each, and cuts long contents around the match',
  'p3-worst': 'answers goals and entries of the largest size',
  'p4-private': 'includes private entries for their owner only, and does not reveal what they supersede',
  'p4-said':
    'reports the most similar entries when none clearly matches, a project without results, and further work in progress',
  'p4-diary': 'adds diary pages of the agent that is named to the packs of their owner, whatever the intent',
  'p4-projects': 'includes only the project and entries without a project, and refuses projects outside of the scope',
  'p4-audit': 'writes one audit row per pack and per denial, with ids and without the goal',
  'p5-trips': 'needs at most three round trips and one call of the embedder, with any limit',
  'p5-rows': 'reads the same number of rows whatever other projects and organizations contain',
  'p5-degraded': 'uses full text only when the embedder is down, and reports that',
  'p5-scale': 'finds nothing for a goal about something else, at any scale of the cosines of the model',
  'p6-safe': 'prevents stored text from breaking the structure of the markdown',
} as const

export type PromiseId = keyof typeof PACKS

/** The title of the test that proves a promise. */
export const promise = (id: PromiseId): string => `${PACKS[id]} [${id}]`
