/** What the packs contract promises, one sentence each; a promise is the title of the test that proves it. */
export const PACKS = {
  'p1-list': 'lists context and remember under their own path and beside the others',
  'p2-remember': 'stores a titled memory verbatim, by kind, project, domain and tags',
  'p2-supersede': 'takes a superseded entry out of packs at once, and back when its successor is deleted',
  'p3-keys': 'answers a pack with all of its keys',
} as const

export type PromiseId = keyof typeof PACKS

/** The title of the test that proves a promise. */
export const promise = (id: PromiseId): string => `${PACKS[id]} [${id}]`
