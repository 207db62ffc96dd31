import { Problem } from '../../../domain/errors'
import type { OmissionReason, Omitted, OmittedEntry, Pack, PackItem } from '../../../domain/pack/pack'
import { DEPTHS, MAX_GOAL, PACK_LAYERS } from '../../../domain/pack/pack-request'
import { INTENTS, SECTION_TITLES } from '../../../domain/pack/sections'
import type { Compiled } from '../../../services/pack/compile-pack'
import { namedProjectOrNone } from '../../named-project'
import type { Page } from '../page'
import { Bar } from '../parts/charts'
import { Copyable, KindLabel, Name, Note, Nothing } from '../parts/common'
import { Choice, Field } from '../parts/form'
import { count, entryAt, plain, plural, score, withQuery } from '../parts/words'
import { callerOf, principalOf, queryNumber, queryParameter, type Visit } from '../visit'

export const LEFT_OUT: Readonly<Record<OmissionReason, string>> = {
  limit: 'beyond the limit',
  budget: 'over the token budget',
  duplicate: 'already included',
  superseded: 'superseded',
}

export const WHYS = ['limit', 'budget', 'duplicate', 'superseded'] as const

/** Lists the memories that were found but are not in the pack, by cause. */
export const LeftOutList = ({ of, omitted }: { of: readonly OmittedEntry[]; omitted: Omitted }) =>
  of.length === 0 ? null : (
    <section class="card">
      <h2>Left out</h2>
      {WHYS.map((cause) => {
        const some = of.filter(({ why }) => why === cause)
        return some.length === 0 ? null : (
          <details open={of.length <= OPEN}>
            <summary>
              {plural(omitted[cause], 'memory', 'memories')} {LEFT_OUT[cause]}
            </summary>
            <ol class="more toc">
              {some.map(({ id, name, score: value }) => (
                <li>
                  <a class="quiet" href={entryAt(id)}>
                    <Name>{name || `Memory ${id}`}</Name>
                  </a>
                  <span class="score">{score(value)}</span>
                </li>
              ))}
            </ol>
          </details>
        )
      })}
    </section>
  )

/** Number of memories shown without a click. */
const OPEN = 6

/** Shows a pack: each item with its reason and score, and the memories that were left out. */
const CHARS_PER_TOKEN = 4

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
      <KindLabel kind={of.type} />
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

function Summary({ pack: { goal, project, sections, diagnostics, markdown, total_items: total } }: { pack: Pack }) {
  const { omitted, modes } = diagnostics
  const tokens = Math.ceil(markdown.length / CHARS_PER_TOKEN)
  return (
    <aside class="card" aria-label="Pack statistics">
      <h2>{plural(total, 'memory', 'memories')}</h2>
      <p class="soft">
        About {plural(tokens, 'token')}, found by{' '}
        {modes.length === 0 ? 'nothing' : modes.map((mode) => (mode === 'fts' ? 'words' : 'meaning')).join(' and ')}.
      </p>
      <ul class="toc more">
        {sections.map(({ facet, items }) => (
          <li>
            <a class="quiet" href={`#${facet}`}>
              {SECTION_TITLES[facet]}
            </a>
            <span class="soft">{count(items.length)}</span>
          </li>
        ))}
      </ul>
      <h3 class="more">Left out</h3>
      <dl class="left-out">
        {WHYS.map((why) => (
          <div>
            <dt class="soft">{LEFT_OUT[why]}</dt>
            <dd>{count(omitted[why])}</dd>
          </div>
        ))}
      </dl>
      <p class="more">
        <a class="quiet" href={withQuery('/why', { query: goal, project })}>
          Why is a memory not here?
        </a>
      </p>
    </aside>
  )
}

export function Shown({ of: { pack, leftOut } }: { of: Compiled }) {
  const { sections, diagnostics, markdown, total_items: total } = pack
  return (
    <>
      {diagnostics.degraded ? <Note bad>Part of the search failed: this pack may be incomplete.</Note> : null}
      <div class="columns">
        <div>
          {total > 0 ? null : (
            <section class="card">
              <Nothing title="No memory matches this goal">
                <p>Rephrase it, or leave the project empty.</p>
              </Nothing>
            </section>
          )}
          {sections.map(({ facet, items }) => (
            <section class="card" id={facet}>
              <h2>{SECTION_TITLES[facet]}</h2>
              <ol>
                {items.map((item) => (
                  <Item of={item} />
                ))}
              </ol>
            </section>
          ))}
          <LeftOutList of={leftOut} omitted={diagnostics.omitted} />
          <section class="card">
            <details>
              <summary>As the agent reads it</summary>
              <div class="more">
                <Copyable text={markdown} label="The pack as Markdown" />
              </div>
            </details>
          </section>
        </div>
        <div class="beside">
          <Summary pack={pack} />
        </div>
      </div>
    </>
  )
}

/** Shows the pack that an agent would get for a goal, the reason of each item, and what was left out. */
const [LEAST_TOKENS, MOST_TOKENS] = [100, 32_000]

const LAYER_WORDS = { wake: 'short, at session start', recall: 'for one goal', deep_search: 'broad' } as const

interface Wanted {
  readonly goal: string | null
  /** Another goal, whose pack is compared with the first. */
  readonly other: string | null
  readonly intent: (typeof INTENTS)[number]
  readonly layer: (typeof PACK_LAYERS)[number]
  readonly project: string | null
  readonly domain: string | null
  readonly agent: string | null
  readonly budget: number
}

const readWanted = (visit: Visit): Wanted => ({
  goal: queryParameter(visit, 'goal'),
  other: queryParameter(visit, 'other'),
  intent: INTENTS.find((one) => one === queryParameter(visit, 'intent')) ?? 'build',
  layer: PACK_LAYERS.find((one) => one === queryParameter(visit, 'layer')) ?? 'recall',
  project: queryParameter(visit, 'project'),
  domain: queryParameter(visit, 'domain'),
  agent: queryParameter(visit, 'agent'),
  budget: queryNumber(visit, 'budget', 0, MOST_TOKENS),
})

const Form = ({ wanted: { goal, other, intent, layer, project, domain, agent, budget } }: { wanted: Wanted }) => (
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
    <details class="more" open={other !== null || domain !== null || agent !== null || budget > 0}>
      <summary>Compare, and more</summary>
      <div class="fields">
        <Field name="other" label="Compare with another goal" value={other} />
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

/** A memory of two packs, with its score in each; null where it is not included. */
interface Compared {
  readonly item: PackItem
  readonly first: number | null
  readonly second: number | null
}

/** The items of two packs in three groups: of both, of the first, of the second. */
function compared(first: Pack, second: Pack): Readonly<Record<'both' | 'first' | 'second', readonly Compared[]>> {
  const itemsOf = ({ sections }: Pack) => new Map(sections.flatMap(({ items }) => items.map((item) => [item.id, item])))
  const [one, two] = [itemsOf(first), itemsOf(second)]
  const all = [...new Map([...two, ...one]).values()].map((item) => ({
    item,
    first: one.get(item.id)?.score ?? null,
    second: two.get(item.id)?.score ?? null,
  }))
  return {
    both: all.filter((item) => item.first !== null && item.second !== null),
    first: all.filter(({ second: score }) => score === null),
    second: all.filter(({ first: score }) => score === null),
  }
}

function Comparison({ first, second }: { first: Pack; second: Pack }) {
  const groups = compared(first, second)
  const titles = { both: 'In both packs', first: 'Only for the first goal', second: 'Only for the second goal' }
  return (
    <section class="card" aria-label="Comparison">
      <h2>Two goals</h2>
      <dl class="facts">
        <dt>First</dt>
        <dd>
          <Name>{first.goal}</Name>
        </dd>
        <dt>Second</dt>
        <dd>
          <Name>{second.goal}</Name>
        </dd>
      </dl>
      {(['both', 'first', 'second'] as const).map((group) => (
        <>
          <h3 class="more">
            {titles[group]}: {count(groups[group].length)}
          </h3>
          {groups[group].length === 0 ? (
            <p class="soft">None.</p>
          ) : (
            <ol class="toc">
              {groups[group].map(({ item, first: one, second: two }) => (
                <li>
                  <a class="quiet" href={entryAt(item.id)}>
                    <Name>{item.name || `Memory ${item.id}`}</Name>
                  </a>
                  <span class="score">
                    {[one, two].flatMap((value) => (value === null ? [] : [score(value)])).join(' → ')}
                  </span>
                </li>
              ))}
            </ol>
          )}
        </>
      ))}
    </section>
  )
}

export async function pack(visit: Visit): Promise<Page> {
  principalOf(visit)
  const wanted = readWanted(visit)
  const [compiled, other] = await Promise.all(
    [wanted.goal, wanted.goal === null ? null : wanted.other].map((goal) =>
      goal === null ? null : compile(visit, wanted, goal),
    ),
  )
  return {
    title: wanted.goal === null ? 'Pack' : `Pack: ${wanted.goal}`,
    at: '/pack',
    body: (
      <div class="stack">
        <div class="head">
          <h1>What would an agent get?</h1>
          <p>Enter a goal to see its pack, why each memory is in it, and what was left out and why.</p>
        </div>
        <Form wanted={wanted} />
        {compiled == null ? (
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
          <>
            {other == null ? null : <Comparison first={compiled.pack} second={other.pack} />}
            <Shown of={compiled} />
          </>
        )}
      </div>
    ),
  }
}
