import { cosine, modelKey, quantize } from '../../../domain/meaning/vector'
import type { Levels } from '../../../domain/recall/similarity'
import type { Embedder } from '../../../ports/models'
import type { Settings } from '../../../ports/settings'

/** Reference cosines of embedding models (fabric contract §4). */
const LOCAL: Levels = { nothing: 0.02, answer: 0.37, doubt: 0.45 }
const MINILM: Levels = { nothing: 0, answer: 0.6, doubt: 0.63 }
const E5_SMALL: Levels = { nothing: 0.79, answer: 0.89, doubt: 1.1 }

/** Names of all-MiniLM-L6-v2 at providers. At Ollama it is the default size. */
const MINILM_NAMES: ReadonlySet<string> = new Set([
  'all-minilm-l6-v2',
  'all-minilm',
  'all-minilm:latest',
  'all-minilm:22m',
  'all-minilm:l6-v2',
])

/** Returns the reference cosines of a known model; null for any other. */
export function knownLevels({ provider, model }: { readonly provider: string; readonly model: string }): Levels | null {
  if (provider === 'local') return LOCAL
  const name = model.toLowerCase()
  const bare = name.slice(name.lastIndexOf('/') + 1)
  if (bare === 'multilingual-e5-small') return E5_SMALL
  return MINILM_NAMES.has(bare) ? MINILM : null
}

/**
 * Computes reference cosines.
 *
 * @param cosines of each question with each text; equal indexes belong together, all others are unrelated
 */
export function levelsOf(cosines: readonly (readonly number[])[]): Levels {
  const crossed = cosines.flatMap((row, i) => row.filter((_, j) => j !== i))
  const matched = cosines.map((row, i) => row[i] as number).sort((a, b) => a - b)
  const middle = matched.length / 2
  return {
    nothing: crossed.reduce((sum, one) => sum + one, 0) / crossed.length,
    answer: ((matched[Math.ceil(middle) - 1] as number) + (matched[Math.floor(middle)] as number)) / 2,
  }
}

/**
 * Questions and their answers on thirty-two unrelated subjects, on which the cosines of a model are measured once (fabric contract §4).
 *
 * A change of these texts changes the levels of unknown models.
 */
export const PAIRS: readonly (readonly [question: string, answer: string])[] = [
  [
    'Why do sourdough loaves come out flat?',
    'A sourdough loaf stays flat when the starter was weak or the dough proved too long; feed the starter twice before you bake.',
  ],
  [
    'How does a vaccine teach the immune system?',
    'The shot shows a harmless part of a virus to immune cells, so that antibodies stand ready when the real one comes.',
  ],
  [
    'How do I retry a failed HTTP request with backoff?',
    'Wrap the request in a loop: after each failed attempt wait twice as long as before, with some jitter, and stop retrying after five.',
  ],
  [
    'When was the printing press invented?',
    'Johannes Gutenberg built his printing press in Mainz about 1440; it was invented for Bibles and indulgences alike.',
  ],
  [
    'What makes a volcano erupt?',
    'Magma rises because it is lighter than the rock around it; gas that boils out of it drives the eruption of the volcano.',
  ],
  [
    'How long may a tenant stay after the lease ends?',
    'When the lease ends the tenant must leave, unless the landlord goes on taking rent; then it runs from month to month.',
  ],
  [
    'Which tyre pressure is right for a gravel bike?',
    'Wheels 40 mm wide roll best on gravel at about 2.5 bar, less for a light rider and more for one with bags.',
  ],
  [
    'How should I prune an old apple tree in winter?',
    'Prune the apple tree while it is bare: take out dead wood first, then branches that cross, never more than a third of the crown.',
  ],
  [
    'What is the difference between a fugue and a canon?',
    'Every voice of a canon repeats the whole melody, while in a fugue only the subject is taken up in turn.', // prose-ignore
  ],
  [
    'How do whales sleep without drowning?',
    'One half of the brain of a whale is asleep at a time, while the other remembers to surface and breathe.',
  ],
  [
    'Why did the Roman republic fall?',
    'Generals with armies loyal to them alone, and a senate that could not share land, brought the Roman republic down.', // prose-ignore
  ],
  [
    'How is the offside rule applied in football?',
    'A player is offside who is nearer to the goal line than the ball and the second last defender when a team mate plays it.',
  ],
  [
    'How can a small shop lower its energy bill?',
    'Doors on the coolers, LED lamps and a timer for the heating cut the energy bill of a shop by a third.',
  ],
  [
    'How does a heat pump work in cold weather?',
    'A heat pump boils a refrigerant at minus thirty, so even cold air outside holds heat that the pump can lift indoors.',
  ],
  [
    'What causes inflation to rise?',
    'Prices rise when more money chases the same goods: inflation is caused by demand, by dear imports or by wages that run ahead.',
  ],
  [
    'How do I take a long exposure photo of stars?',
    'Set the camera on a tripod, open the lens fully and expose for twenty seconds; longer, and the stars become trails in the photo.',
  ],
  [
    'What does a judge weigh before granting bail?',
    'Before bail is granted the judge asks whether the accused will appear, tamper with witnesses or offend again.',
  ],
  [
    'How do bees decide where to build a new hive?',
    'Scout bees dance for the hollow they have found; when enough of them dance for one place the swarm moves there to build.',
  ],
  [
    'How is cheddar cheese aged?',
    'Cheddar is wrapped in cloth and aged in a cool cellar, turned every week, for nine months and more until it crumbles.',
  ],
  [
    'How do sailors navigate without satellites?',
    'With a sextant and an exact clock sailors measure the height of the sun at noon and navigate by tables.',
  ],
  [
    'Why does my knee hurt when running downhill?',
    'Going downhill loads the tendon below the kneecap; take shorter steps and strengthen the thigh until the pain is gone.',
  ],
  [
    'How are diamonds graded?',
    'Diamonds are graded by carat, colour, clarity and cut; a laboratory compares each stone with a master set.',
  ],
  [
    'What did cubist painters try to show?',
    'Cubist painters broke a thing into planes to show it from several sides at once, as Braque did with his violins.',
  ],
  [
    'How can I teach a puppy not to bite?',
    'Stop the game as soon as its teeth touch skin and offer a toy instead; a young dog learns that biting ends all fun.',
  ],
  [
    'How does a microwave oven heat food?',
    'Microwaves turn the water molecules in food to and fro billions of times a second, and that motion is the heat.',
  ],
  [
    'Which documents do I need for a work visa?',
    'For a work visa bring your passport, the contract, proof of your degree and two photos to the consulate.',
  ],
  [
    'How is paper recycled?',
    'Waste paper is pulped in water, freed of ink and staples, and pressed into new sheets; fibres last about six rounds of recycling.',
  ],
  [
    'What do monks in a Zen monastery do all day?',
    'Zen monks rise at four, sit in meditation, sweep the monastery and beg for rice; silence holds until evening.',
  ],
  [
    'How do you tune the strings of a violin?',
    'Tune the A string of the violin to 440 hertz first, then the others in fifths, with the pegs and last the fine tuners.',
  ],
  [
    'Why do leaves change colour in autumn?',
    'In autumn a tree takes back its chlorophyll; the yellow that was in the leaves all summer shows, and sugar makes red.',
  ],
  [
    'How does a suspension bridge carry its load?',
    'The deck of a suspension bridge hangs on cables that carry the load over the towers into anchors in the rock.',
  ],
  [
    'How do insurers price a life policy?',
    'Insurers read from mortality tables how likely death is at each age and price the life policy so that premiums cover it.',
  ],
]

/** Returns the reference cosines of the configured model: configured, built in, or measured once and stored (fabric contract §4). */
export function createLevels({
  embedder,
  settings,
  given,
  remembered = new Map(),
}: {
  readonly embedder: Embedder
  readonly settings: Settings
  /** `EMBEDDING_LEVELS`; null if it is not set. */
  readonly given: Levels | null
  /** Cosines known to this isolate, by model. */
  readonly remembered?: Map<string, Levels>
}): () => Promise<Levels> {
  const model = modelKey(embedder)
  const name = `levels:${model}`

  /** Measures the cosines. @throws Problem unavailable if the model does not answer */
  async function measured(): Promise<Levels> {
    const [questions, answers] = await Promise.all([
      embedder.embed(
        PAIRS.map(([question]) => question),
        'query',
      ),
      embedder.embed(
        PAIRS.map(([, answer]) => answer),
        'document',
      ),
    ])
    const [asked, answered] = [questions, answers].map((all) => all.map((vector) => quantize(vector))) as [
      ReturnType<typeof quantize>[],
      ReturnType<typeof quantize>[],
    ]
    return levelsOf(asked.map((query) => answered.map((text) => cosine(query.values, text.values))))
  }

  return async () => {
    const known = given ?? knownLevels(embedder) ?? remembered.get(model)
    if (known) return known
    const kept = await settings.read(name)
    const levels = kept === null ? await measured() : (JSON.parse(kept) as Levels)
    if (kept === null) await settings.write(name, JSON.stringify(levels))
    remembered.set(model, levels)
    return levels
  }
}
