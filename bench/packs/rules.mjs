// The rules by which a pack is chosen, each as what of `src/domain/pack/weights.ts` turns it off.

/** @type {Record<string, Record<string, any>>} */
export const RULES = {
  // Evidence
  'words of the goal': { evidence: { words: 0 } },
  'nearness in meaning': { evidence: { similarity: 0 } },
  'names and codes': { evidence: { identifier: 0 } },
  'the time that is asked for': { evidence: { recent: 0 } },
  links: { evidence: { linked: 0 } },
  'the rank of full text': { evidence: { ranked: 0 } },
  // Priors
  'order of the intent': { prior: { nextFacet: 0 } },
  'facets beside the intent': { prior: { otherFacet: 1 } },
  pinned: { prior: { pinned: 1 } },
  'what is replaced ranks below': { prior: { older: 1 } },
  // Words
  'at most seven words are expected': { words: { expected: 1_000 } },
  'long texts hold words by accident': { words: { lengthCost: 0 } },
  'a title says more': { words: { inTitle: 0 } },
  'numbers and letters are hardly words': { words: { hardlyAWord: 1 } },
  'common words say less': { words: { common: 1 } },
  'parts of codes say less': { words: { partOfCode: 1 } },
  'words by accident': { words: { accident: 1 } },
  'all words of the subject': { words: { allOfSubject: 0 } },
  'each sentence by itself': { words: { ofSentence: 1 } },
  // Noise
  'a bound of noise from the candidates': { noise: { most: 0.02 } },
  // Links
  'a successor takes over': { links: { successor: 0.8 } },
  'what says anew is found by it': { links: { saidAnew: 0 } },
  // What is asked for
  'work by its status': { asked: { byStatus: 0 } },
  'any work, where things stand': { asked: { any: 0 } },
  'work on a subject': { asked: { ofSubject: 0 } },
  'kinds that are asked for': { asked: { ofKind: 0 } },
  // Later entries
  'later by the same text or words': { anew: { says: 2 } },
  'series are no restatements': { anew: { series: 1_000 } },
  'later by the words of the goal': { anew: { goalWords: 1_000 } },
  // Floors
  'a floor': { floors: { floor: 0 } },
  'the best must say something': { floors: { faintLeast: 0, faintMost: 0 } },
  'the best must say more of unknown words': { floors: { faintOfUnknown: 0 } },
  'a second entry is no accident': { floors: { second: 2 } },
  'a share of the best': { floors: { besideBest: 0 } },
  'a higher share for a name': { floors: { isName: 2 } },
  'a lower floor where nothing is an answer': { floors: { answer: 0 } },
  'little before an answer': { floors: { beforeAnswer: 0 } },
  fillers: { floors: { worthALook: 1_000 } },
  // Places
  'one of each facet first': { places: { nearBest: 1_000 } },
  variety: { places: { alike: 0 } },
  'facets do not crowd': { places: { crowded: 0 } },
  'a third for what joins anyway': { places: { anyway: 1 } },
  'few places for unrelated work': { places: { unrelated: 1, mostUnrelated: 24 } },
  // What is shown
  'near duplicates': { likeness: { words: 2, pairs: 3 } },
  'room by worth': { shown: { falls: 0 } },
  'two lines for fillers': { shown: { twoLines: 1_500 } },
  'whole texts that are hardly longer': { shown: { hardlyLonger: 1 } },
}

/** @param {any} weights @param {any} changes @returns {any} the weights with these changes; an empty group stays empty */
export function withChanges(weights, changes) {
  const changed = { ...weights }
  for (const [name, value] of Object.entries(changes))
    changed[name] =
      typeof value === 'object' && Object.keys(value).length > 0 ? withChanges(weights[name], value) : value
  return changed
}
