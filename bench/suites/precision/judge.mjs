// Judges answers as the harness of PrecisionMemBench does (src/*.external.eval.test.ts, src/adapters/baseAdapter.ts): pinned
// facts and open questions come from the seed, results are judged without them, and relations include their participants.

const BUDGET = { maxBeliefs: 20, maxQuestions: 15 }

const inScope = ({ scope }, asked) => scope.some((one) => asked.includes(one))
const isQuestion = ({ type }) => type === 'open_question'

/** Participants of the relations of these. */
const participantsOf = (found, { user, scope, beliefs, without }) =>
  found
    .filter(({ type }) => type === 'relation')
    .flatMap(({ participants = [] }) => participants)
    .map((id) => beliefs.get(id))
    .filter((one) => one !== undefined && one.user_id === user && inScope(one, scope) && !without.has(one._id))

/**
 * The tiers of a context.
 *
 * @param {Map<string, any>} beliefs by id
 * @param {{ user: string, scope: string[], query: string, budget?: { maxBeliefs?: number, maxQuestions?: number } }} asked
 * @param {(query: string, limit: number) => Promise<string[]>} search ids, best first
 * @param {boolean} routes whether the adapter knows open questions, which have a tier of their own
 */
export async function contextOf(beliefs, asked, search, routes) {
  const { user, scope, query, budget = {} } = asked
  const { maxBeliefs, maxQuestions } = { ...BUDGET, ...budget }
  const own = [...beliefs.values()].filter(
    (one) => one.user_id === user && one.pinned && inScope(one, scope) && !one.resolved_at,
  )
  const pinned = own.filter((one) => !isQuestion(one) && !one.superseded_by)
  const pinnedIds = new Set(pinned.map(({ _id }) => _id))
  const ids = query.trim() !== '' && maxBeliefs > 0 ? await search(query, maxBeliefs) : []
  const found = [...new Set(ids)].filter((id) => !pinnedIds.has(id)).flatMap((id) => beliefs.get(id) ?? [])
  const without = new Set([...pinnedIds, ...found.map(({ _id }) => _id)])
  const joined = participantsOf(found, { user, scope, beliefs, without }).filter((one) => !(routes && isQuestion(one)))
  const relevant = [...found, ...joined]
  const shown = pinned.slice(0, maxBeliefs)
  return {
    pinned: shown.map(({ _id }) => _id),
    relevant: relevant.slice(0, Math.max(0, maxBeliefs - shown.length)).map(({ _id }) => _id),
    questions: own
      .filter(isQuestion)
      .slice(0, maxQuestions)
      .map(({ _id }) => _id),
  }
}

const missing = (wanted = [], has, what) => wanted.filter((id) => !has(id)).map((id) => `missing ${what}: ${id}`)
const forbidden = (unwanted = [], has, what) => unwanted.filter(has).map((id) => `unwanted ${what}: ${id}`)

/** Returns the errors of a context; texts of a persona belong to the harness and do not count. */
export function faultsOf({ pinned, relevant, questions }, expect) {
  const { relevantBeliefs: beliefs = {}, pinnedFacts = {}, openQuestions = {}, noiseCheck } = expect
  const [isPinned, isRelevant, isQuestion] = [pinned, relevant, questions].map((ids) => {
    const all = new Set(ids)
    return (id) => all.has(id)
  })
  const isShown = (id) => isPinned(id) || isRelevant(id)
  const { shouldOnlyInclude: only, maxCount, minCount, orderedBefore = [] } = beliefs
  return [
    ...missing([...(beliefs.mustInclude ?? []), ...(beliefs.shouldInclude ?? [])], isShown, 'belief'),
    ...forbidden(beliefs.mustExclude, isShown, 'belief'),
    ...(only === undefined ? [] : missing(only, isRelevant, 'belief')),
    ...(only === undefined ? [] : relevant.filter((id) => !only.includes(id)).map((id) => `unwanted belief: ${id}`)),
    ...(maxCount != null && relevant.length > maxCount ? [`more than ${maxCount} beliefs`] : []),
    ...(minCount != null && relevant.length < minCount ? [`fewer than ${minCount} beliefs`] : []),
    ...orderedBefore
      .filter(([a, b]) => relevant.indexOf(a) < 0 || relevant.indexOf(a) > relevant.indexOf(b))
      .map(String),
    ...missing(pinnedFacts.mustInclude, isPinned, 'pinned fact'),
    ...forbidden(pinnedFacts.mustExclude, isPinned, 'pinned fact'),
    ...missing(openQuestions.mustInclude, isQuestion, 'question'),
    ...forbidden(openQuestions.mustExclude, isQuestion, 'question'),
    ...forbidden(noiseCheck?.mustNotSurface, isShown, 'noise'),
  ]
}

/** Precision and recall of one case, null where the harness counts none. */
export function sharesOf({ relevant }, expect, pinnedInSeed) {
  const { shouldOnlyInclude: only, mustInclude = [] } = expect.relevantBeliefs ?? {}
  const wanted = only ?? mustInclude.filter((id) => !pinnedInSeed.has(id))
  const hits = wanted.filter((id) => relevant.includes(id)).length
  return {
    precision: relevant.length === 0 ? (wanted.length === 0 ? null : 0) : hits / relevant.length,
    recall: wanted.length === 0 ? null : hits / wanted.length,
    active: wanted.length > 0,
  }
}
