import { Problem } from '../../../domain/errors'
import { FACET_TITLES } from '../../../domain/pack/facets'
import { INTENTS } from '../../../domain/pack/intents'
import type { Pack, PackItem } from '../../../domain/pack/pack'
import { DEPTHS, MAX_GOAL, PACK_LAYERS } from '../../../domain/pack/request'
import { callerOf } from '../call'
import type { Page } from '../page'
import { entryAt } from '../parts/addresses'
import { Bar } from '../parts/charts'
import { Copyable, Kind, Name, Note, Nothing } from '../parts/common'
import { Choice, Field } from '../parts/form'
import { count, plain, plural, score } from '../parts/words'
import { asked, askedNumber, principalOf, type Visit } from '../visit'

/** What an agent would get for a goal, why each item is there, and what was left out. */
const CHARS_PER_TOKEN = 4
const [LEAST_TOKENS, MOST_TOKENS] = [100, 32_000]

const LAYER_WORDS = { wake: 'short, to begin with', recall: 'for one goal', deep_search: 'wide' } as const

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
        placeholder="What is an agent about to do?"
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
        <Field name="agent" label="With the diary of this agent" value={agent} />
      </div>
    </details>
  </form>
)

const Item = ({ of }: { of: PackItem }) => (
  <li class="item">
    <div class="item-head">
      <h3>
        <a href={entryAt(of.id)}>
          <Name>{of.name || `Memory ${of.id}`}</Name>
        </a>
      </h3>
      <span class="score">
        <Bar share={of.score} />
        {score(of.score)}
      </span>
    </div>
    <p class="reason">
      <Name>{of.reason}</Name>
    </p>
    {of.content === '' ? null : (
      <pre class="text" tabindex={0}>
        {of.content}
      </pre>
    )}
    <p class="facts">
      <Kind kind={of.type} />
      {of.quality.created_at === null ? null : <span>{of.quality.created_at.slice(0, 10)}</span>}
      {of.related.map(({ id, name, relationship, direction }) => (
        <span>
          {plain(relationship)} {direction === 'outgoing' ? '→' : '←'}{' '}
          <a href={entryAt(id)}>
            <Name>{name || `memory ${id}`}</Name>
          </a>
        </span>
      ))}
    </p>
  </li>
)

const LEFT_OUT = {
  limit: 'beyond the limit',
  budget: 'for want of room',
  duplicate: 'said already',
  superseded: 'superseded',
} as const

function Compiled({ pack }: { pack: Pack }) {
  const { sections, diagnostics, markdown, total_items: total } = pack
  const { omitted, degraded, modes } = diagnostics
  const tokens = Math.ceil(markdown.length / CHARS_PER_TOKEN)
  return (
    <>
      {degraded ? <Note bad>A part of the search did not work: this pack may lack something.</Note> : null}
      <section class="card">
        <h2>
          {plural(total, 'memory', 'memories')} in {plural(sections.length, 'section')}
        </h2>
        <p class="soft">
          Found by{' '}
          {modes.length === 0 ? 'nothing' : modes.map((mode) => (mode === 'fts' ? 'words' : 'meaning')).join(' and ')}.
          Left out:
        </p>
        <dl class="left-out">
          {(['limit', 'budget', 'duplicate', 'superseded'] as const).map((why) => (
            <div>
              <dd>{count(omitted[why])}</dd>
              <dt class="soft">{LEFT_OUT[why]}</dt>
            </div>
          ))}
        </dl>
      </section>
      {total > 0 ? null : (
        <section class="card">
          <Nothing title="Nothing that is stored has to do with this goal" />
        </section>
      )}
      {sections.map(({ facet, items }) => (
        <section class="card">
          <h2>{FACET_TITLES[facet]}</h2>
          <ol>
            {items.map((item) => (
              <Item of={item} />
            ))}
          </ol>
        </section>
      ))}
      <section class="card">
        <details>
          <summary>As the agent reads it: about {plural(tokens, 'token')}</summary>
          <div class="more">
            <Copyable text={markdown} label="The pack as Markdown" />
          </div>
        </details>
      </section>
    </>
  )
}

async function compile(visit: Visit, wanted: Wanted, goal: string): Promise<Pack> {
  const { intent, layer, project, domain, agent, budget } = wanted
  if (budget > 0 && budget < LEAST_TOKENS)
    throw new Problem('invalid_input', `The budget must be a whole number from ${LEAST_TOKENS} to ${MOST_TOKENS}`)
  return visit.services.packs.context(callerOf(visit, 'context'), {
    ...{ goal, intent, layer, includeRelated: true, relatedLimit: 3 },
    project: project ?? undefined,
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
            What an agent is given before it begins: say its goal, and see what it would get, why each memory is there,
            and what was left out.
          </p>
        </div>
        <Form wanted={wanted} />
        {compiled === null ? (
          <section class="card">
            <Nothing title="Say a goal">
              <p>
                A pack holds up to {DEPTHS.recall.items} memories, in about {count(DEPTHS.recall.markdownTokens)}{' '}
                tokens.
              </p>
            </Nothing>
          </section>
        ) : (
          <Compiled pack={compiled} />
        )}
      </div>
    ),
  }
}
