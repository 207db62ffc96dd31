/** Promises of the packs contract, one sentence each; a promise is the title of the test that proves it. */
export const PACKS = {
  'p1-list': 'lists context and remember under their own path and with the others',
  'p2-remember': 'stores a titled memory verbatim in layer 2, by kind, project, domain, agent, tags and source',
  'p2-metadata':
    'keeps private or in a project what its metadata alone say is so, and refuses arguments that say otherwise',
  'p2-refused': 'refuses what it cannot remember and says all that is wrong, an unknown kind with the list of kinds',
  'p2-links': 'links to what is named, in both ways of naming it, or stores nothing',
  'p2-conflicts': 'names entries of the same kind and project that have the same title or say nearly the same',
  'p2-equal':
    'stores a memory once whose title, text, kind, project, owner and audience are those of another, and names what differs',
  'p2-work-status':
    'reads the status of work from common words, keeps the word as it was sent, and warns of a word that it does not know',
  'p2-supersede': 'takes a superseded entry out of packs at once, and back when its successor is deleted',
  'p3-keys': 'answers a pack with all of its keys',
  'p3-refused': 'asks for a goal, and refuses unknown intents, layers and budgets',
  'p3-intent': 'places each section by its best item, whatever the intent, and hides none',
  'p3-limit': 'adjusts the limit silently to its bounds and the cap of the layer, and counts omitted entries',
  'p3-work':
    'leads with work in flight, leaves archived work out, and makes prior art of finished work with its learnings',
  'p3-left-out':
    'leaves out what has ended and what was deleted, and nothing that a later entry is named like or speaks of',
  'p3-one-subject': 'includes entries that contain every word of a goal, also if every entry does, and all of a series',
  'p3-duplicates': 'collapses near-duplicates into the best one',
  'p3-contradicts': 'shows both sides of a contradiction, each naming the other',
  'p3-floor': 'gives nothing for an unrelated goal, and scores that mean the same in every call',
  'p3-names': 'finds what names the same error code, path, function or version',
  'p3-called': 'puts first what a goal calls by an alias, also with a slip of the pen',
  'p3-related':
    'names linked entries in both directions up to the limit, two steps away in a deep search, none at wake',
  'p3-vocabularies': 'draws on entries of every vocabulary, typed or not',
  'p3-domain': 'prefers a domain and leaves out no other',
  'p3-same': 'answers the same call with the same bytes',
  'p3-budget': 'keeps sections and markdown within the budget each, and cuts long contents around what matched',
  'p3-worst': 'answers goals and entries of the largest size',
  'p4-private': 'includes private entries for their owner only, and does not reveal what they supersede',
  'p4-said':
    'reports the most similar entries when none clearly matches, a project without results, and further work in progress',
  'p4-diary': 'adds diary pages of the agent that is named to the packs of their owner, whatever the intent',
  'p4-projects': 'keeps to the project and to what belongs to none, and refuses projects that are not open',
  'p4-audit': 'writes one audit row a pack and a denial, with ids and without the goal',
  'p5-trips': 'takes three round trips and one call of the embedder at most, whatever the limit',
  'p5-rows': 'reads as many rows whatever other projects and organizations hold',
  'p5-degraded': 'uses full text only when the embedder is down, and reports that',
  'p5-scale': 'finds nothing for a goal about something else, whatever the scale of the cosines of the model',
  'p6-safe': 'keeps stored text in its place in the markdown, whatever it holds',
} as const

export type PromiseId = keyof typeof PACKS

/** The title of the test that proves a promise. */
export const promise = (id: PromiseId): string => `${PACKS[id]} [${id}]`
