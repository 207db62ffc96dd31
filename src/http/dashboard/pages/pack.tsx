import { Problem } from '../../../domain/errors'
import { INTENTS } from '../../../domain/pack/intents'
import { DEPTHS, MAX_GOAL, PACK_LAYERS } from '../../../domain/pack/request'
import type { Compiled } from '../../../services/pack/compile-pack'
import { namedProjectOrNone } from '../../named-project'
import { callerOf } from '../call'
import type { Page } from '../page'
import { Nothing } from '../parts/common'
import { Choice, Field } from '../parts/form'
import { count, plain } from '../parts/words'
import { asked, askedNumber, principalOf, type Visit } from '../visit'
import { Shown } from './pack-shown'

/** Shows the pack that an agent would get for a goal, the reason of each item, and what was left out. */
const [LEAST_TOKENS, MOST_TOKENS] = [100, 32_000]

const LAYER_WORDS = { wake: 'short, at session start', recall: 'for one goal', deep_search: 'broad' } as const

interface Wanted {
  readonly goal: string | null
  readonly intent: (typeof INTENTS)[number]
  readonly layer: (typeof PACK_LAYERS)[number]
  readonly project: string | null
  readonly domain: string | null
  readonly agent: string | null
  readonly budget: number
}

const readWanted = (visit: Visit): Wanted => ({
  goal: asked(visit, 'goal'),
  intent: INTENTS.find((one) => one === asked(visit, 'intent')) ?? 'build',
  layer: PACK_LAYERS.find((one) => one === asked(visit, 'layer')) ?? 'recall',
  project: asked(visit, 'project'),
  domain: asked(visit, 'domain'),
  agent: asked(visit, 'agent'),
  budget: askedNumber(visit, 'budget', 0, MOST_TOKENS),
})

const Form = ({ wanted: { goal, intent, layer, project, domain, agent, budget } }: { wanted: Wanted }) => (
  <form method="get" action="/pack" class="card">
    <div class="searchbox">
      <input
        name="goal"
        value={goal ?? ''}
        aria-label="Goal"
        placeholder="What is the agent about to do?"
        maxlength={MAX_GOAL}
        required
        autocomplete="off"
      />
      <button type="submit" class="main">
        Compile
      </button>
    </div>
    <div class="fields more">
      <Choice name="intent" label="Intent" value={intent} options={INTENTS.map((one) => [one, one])} />
      <Choice
        name="layer"
        label="Depth"
        value={layer}
        options={PACK_LAYERS.map((one) => [one, `${plain(one)}: ${LAYER_WORDS[one]}`])}
      />
      <Field name="project" label="Project" value={project} />
    </div>
    <details class="more" open={domain !== null || agent !== null || budget > 0}>
      <summary>More</summary>
      <div class="fields">
        <Field name="budget" label="Budget in tokens" value={budget === 0 ? '' : String(budget)} inputmode="numeric" />
        <Field name="domain" label="Subject area" value={domain} />
        <Field name="agent" label="Include the diary of this agent" value={agent} />
      </div>
    </details>
  </form>
)

async function compile(visit: Visit, wanted: Wanted, goal: string): Promise<Compiled> {
  const { intent, layer, project, domain, agent, budget } = wanted
  if (budget > 0 && budget < LEAST_TOKENS)
    throw new Problem('invalid_input', `The budget must be a whole number from ${LEAST_TOKENS} to ${MOST_TOKENS}`)
  const named = await namedProjectOrNone(visit.services, callerOf(visit, 'context'), project)
  return visit.services.packs.explained(named.scope, {
    ...{ goal, intent, layer, includeRelated: true, relatedLimit: 3 },
    project: named.project ?? undefined,
    domain: domain ?? undefined,
    agentId: agent ?? undefined,
    maxTokens: budget === 0 ? undefined : budget,
  })
}

export async function pack(visit: Visit): Promise<Page> {
  principalOf(visit)
  const wanted = readWanted(visit)
  const compiled = wanted.goal === null ? null : await compile(visit, wanted, wanted.goal)
  return {
    title: wanted.goal === null ? 'Pack' : `Pack: ${wanted.goal}`,
    at: '/pack',
    body: (
      <div class="stack">
        <div class="head">
          <h1>Pack</h1>
          <p>
            See what an agent gets before it starts: enter its goal to see the pack, why each memory is in it, and what
            was left out.
          </p>
        </div>
        <Form wanted={wanted} />
        {compiled === null ? (
          <section class="card">
            <Nothing title="Enter what an agent is about to do">
              <p>
                Clients ask for a pack with the tool “context” before a piece of work. It holds up to{' '}
                {DEPTHS.recall.items} memories, in about {count(DEPTHS.recall.tokens)} tokens: work in flight,
                decisions, rules, what went wrong before, and what is linked to them.
              </p>
            </Nothing>
          </section>
        ) : (
          <Shown of={compiled} />
        )}
      </div>
    ),
  }
}
