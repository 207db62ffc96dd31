/**
 * Every number by which a pack is chosen, as data that the rules take, so that a bench can turn one off (bench/packs/ablation.mjs).
 *
 * Where no other reason is named, a number was chosen on the ferries and on half of the bakery's goals (bench/packs).
 */
export const WEIGHTS = {
  /** How much each piece of evidence says when it says all it can; together they say more than each alone, and never more than 1. */
  evidence: {
    words: 0.9,
    /** The cosine, above what has nothing to do with the goal. */
    similarity: 1,
    /** Error codes, paths, names and versions of the goal. */
    identifier: 0.7,
    /** An alias of it stands whole in the goal. */
    named: 0.85,
    /** Made in the time that the goal asks for. */
    recent: 0.55,
    /** The entry at the end of a link takes over so much. */
    linked: 0.6,
    /** Work in flight and diary pages, whatever the goal says (packs contract). */
    inProgress: 0.25,
    diary: 0.35,
    /** Its place in the order of full-text search, which weighs short texts otherwise: what both find is more often right. */
    ranked: 0.3,
  },

  /** What the score is multiplied by beside the goal. */
  prior: {
    /** Facets that an intent names count a little less each, others less and never nothing: a prior, no filter (packs contract). */
    nextFacet: 0.01,
    otherFacet: 0.9,
    /** Of two equal entries the one of the domain stands above (packs contract). */
    otherDomain: 0.9,
    pinned: 1.05,
    /** What a later entry takes the place of ranks below it, and stays (packs contract, "Left out"). */
    older: 0.5,
  },

  /** What share of a goal's words a text holds. */
  words: {
    /** A text that holds this many of the rarest words of a long goal holds all that one memory can. */
    expected: 7,
    /** Entries that a store is taken to have at least, so that rarity means something in a small one; of one that nobody counted. */
    smallestStore: 20,
    uncounted: 1_000,
    /** From this many words on a text holds words by accident: what its length takes from them, and at most. */
    long: 150,
    lengthCost: 0.12,
    longestCost: 1.4,
    /** What a title adds to the words that it holds. */
    inTitle: 0.25,
    /** A number of a clock or a list, or a single letter, stands in many texts that have nothing to do with each other. */
    hardlyAWord: 0.15,
    /** A word that is frequent in any prose, beside a rare one. */
    common: 0.3,
    /** A word of a code or a path (`BOOK` of `BOOK-410-HOLD`) says little without the rest of it. */
    partOfCode: 0.3,
    /** A word is rare that tells this share of what one tells which stands in one entry alone. */
    rare: 0.5,
    /** Words that together tell less than this share of what the rarest one tells are there by accident, and count so much. */
    farRarer: 0.5,
    accident: 0.5,
    /**
     * A sentence of several may be all that a text has to do with; it counts as though it said at least this share of the goal. Chosen on
     * the bakery and the clinic; in the three others a second goal costs 6 to 12 points of required recall at 12 items for 8 to 14.
     */
    ofSentence: 0.5,
    /** Who holds every word that names the goal's subject has to do with it, also where all entries hold them. */
    allOfSubject: 0.45,
    /** Of the words that an entry holds, those are named that say this share of what the rarest says. */
    telling: 0.4,
  },

  /** The cosine of texts that have nothing to do with each other: models differ in where their cosines begin. */
  noise: {
    least: 0.02,
    most: 0.45,
    /** The cosine at this share of the candidates, from the lowest: so many are taken to be noise. */
    at: 0.25,
  },

  /** What an entry takes over from one that it is linked with. */
  links: {
    /** Whatever the relation is. */
    carries: 0.8,
    /** What takes the place of an entry takes over nearly all that speaks for it, whatever its own words are. */
    successor: 1.5,
    /** From what is said anew to what says it: no link of the store, and none that leads back. */
    saidAnew: 1,
    /** Each step takes that much of what is taken over. */
    step: 0.6,
  },

  /** Newest entries that join a pack whose goal asks for them. */
  recency: {
    /** As a share of its items, two at least; of a goal that asks for nothing else, most. */
    share: 0.25,
    shareOfTime: 0.75,
    least: 2,
  },

  /** What it says for an entry that the goal asks for work as it stands, or for its kind. */
  asked: {
    byStatus: 0.6,
    /** Any work, wherever things stand. */
    any: 0.35,
    /** Work on a subject, where other work is not meant. */
    ofSubject: 0.3,
    ofKind: 0.4,
    /** Newest entries of such a kind, as a share of the items. */
    shareOfKind: 0.5,
    /** Between `which` and the name of a sort stand so many words, and so many that do not only hold sentences together. */
    wordsBetween: 3,
    othersBetween: 1,
  },

  /** Work that is taken up again, and what was last written of it. */
  resumed: {
    /** What speaks for work that is meant; so many of them, and so many sessions of each. */
    meant: 0.25,
    works: 2,
    sessions: 1,
    /** The cosine at this share of the later sessions, from the highest, is taken for noise; how fast nearness above it says all it can. */
    noiseAt: 0.5,
    steep: 8,
    /** What is only new says so much of it where something is clearly meant. */
    besideSubject: 0.7,
  },

  /** Later entries about the same. */
  anew: {
    /** Entries that are compared, each with each. */
    compared: 120,
    /** Code points of a text that are compared. */
    codePoints: 400,
    /** Of what the earlier text says, by how rare its words are, the later one says this much; so many words at least. */
    says: 0.4,
    words: 2,
    /** What is like so many others is one of a series (a port for each service), of which all hold. */
    series: 3,
    /** Entries that a store is taken to have at least, so that rarity means something among few. */
    fewest: 20,
    /** What says that it replaces something: code points that are looked at, those behind such a word, words besides the name. */
    replacing: { lookedAt: 1_000, named: 160, beside: 2 },
    /** Words of the goal that both hold, before the later one is told beside a decision: a rare one, and another. */
    goalWords: 2,
    /** What is told of the later one: code points, a new number beside the rarest word, words that stand together. */
    excerpt: { codePoints: 180, newNumber: 0.4, together: 2 },
  },

  /** Shares of words, and of neighbouring words, from which two texts say nearly the same; code points that are compared. */
  likeness: {
    words: 0.85,
    pairs: 0.7,
    codePoints: 1_500,
    /** Such texts are at least this near in meaning, whatever the model: the others need no closer look. */
    near: 0.6,
  },

  /** What has to do with the goal. */
  floors: {
    /** Entries below it have too little to do with it. */
    floor: 0.13,
    /**
     * Where even the best says less than this, nothing has to do with the goal: a word that both have by accident says that much. The
     * less of its words the store knows, the more the best has to say.
     */
    faintOfUnknown: 0.6,
    faintLeast: 0.25,
    faintMost: 0.45,
    /** Unless a second entry says this much: a word by accident lifts one. */
    second: 0.3,
    /** Beside a good hit what says less than this share of it has its place after all others. */
    besideBest: 0.315,
    /** And of a goal that is a name and little else (this share of it): what only looks like it says less. */
    besideNamed: 0.45,
    isName: 0.5,
    /** Of a goal that calls entries by their names: what it does not call says this share of what the best of them says. */
    besideCalled: 0.7,
    /** A hit this good is taken for the answer: sections before it hold only what says this share of it. */
    answer: 0.6,
    beforeAnswer: 0.5,
    /** Where nothing is an answer, places that are left go to what words or meaning found and is worth this much. */
    worthALook: 0.05,
    /** So many of them at most, as a share of what the caller sees: in a small store they would be the rest of it. */
    fillersOfStore: 1 / 18,
    /** A similarity that says less is not worth a word. */
    worthSaying: 0.1,
  },

  /** Which of these have a place. */
  places: {
    /** A facet whose best says this share of what the best of all says has one (packs contract). */
    nearBest: 0.6,
    /** What likeness to a chosen one costs. */
    alike: 0.2,
    /** More of one facet than this share of the pack costs a little each. */
    shareOfFacet: 0.34,
    crowded: 0.01,
    /** Entries that are compared, each with each: so many times the places, at least so many, and at most so many beyond them. */
    compared: 4,
    leastCompared: 60,
    mostBeyond: 50,
    /** What joins whatever the goal says takes this share at most; what matches competes like everything else. */
    anyway: 1 / 3,
    /** Work that has nothing to do with the goal takes this share at most, and so many in all. */
    unrelated: 1 / 8,
    mostUnrelated: 3,
  },

  /** What of a text is shown: code points, where nothing else is said. */
  shown: {
    /** How fast the room falls with the share of the best; at least a few lines, two for what fills a place. */
    falls: 3,
    fewLines: 240,
    twoLines: 160,
    /** Work that has nothing to do with the goal. */
    anyway: 160,
    /** A text that is only so much longer than its room is shown whole: its end may be what matters. */
    hardlyLonger: 1.5,
    /** Of a cut text, the share before the place that matched. */
    before: 0.2,
    /** A cut moves this far at most to stand between two words, in UTF-16 units; and over this share of the text, between sentences. */
    toASpace: 24,
    tail: 0.35,
    /** Hits that are looked at. */
    hits: 400,
    /** Of a long text so many parts at most, where each has room for two sentences; what a word still tells in a further part. */
    parts: 3,
    part: 200,
    saidBefore: 0.3,
    /** Of a text that is longer than what was read, so much is read at least; below this share of words meaning says better where. */
    stretch: 800,
    weakWords: 0.3,
    /** Words that a reason names. */
    reasonWords: 5,
  },

  /**
   * Of what a pack may hold: characters of a text that an item is not worth its place without, and of opponents; a share for neighbours.
   * Where not all that was chosen fits, more of it is worth more than longer parts and neighbours.
   */
  budget: {
    roomy: { least: 200, oppositions: 40, related: 0.12, bare: false },
    scarce: { least: 100, oppositions: 0, related: 0, bare: false },
    bare: { least: 16, oppositions: 0, related: 0, bare: true },
  },

  /** How much is looked at before anything is weighed; bounds of cost (packs contract, "Cost"). */
  gathering: {
    /** Of work in flight so many times as much where the goal asks for it by its status. */
    askedFor: 4,
    /** Vectors of a narrowed scope up to which all are compared. */
    exact: 1_500,
    /** Vectors asked of an index for each entry wanted, and in all where a scope admits a part of them only. */
    overfetch: 3,
    narrowHits: 4_000,
    /** Vectors that the index has not confirmed, of which the newest are looked at. */
    unconfirmed: 200,
    /** Identifiers of a goal. */
    identifiers: 16,
  },
}

export type Weights = typeof WEIGHTS
