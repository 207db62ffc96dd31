import type { OmissionReason, Omitted, OmittedEntry, Pack, PackItem } from '../../../domain/pack/pack'
import { DEPTHS, MAX_GOAL, PACK_LAYERS } from '../../../domain/pack/pack-request'
import { INTENTS, SECTION_TITLES } from '../../../domain/pack/sections'
import type { Millis } from '../../../domain/time'
import type { Compiled } from '../../../services/pack/compile-pack'
import { namedProjectOrNone } from '../../named-project'
import type { Page } from '../page'
import { Bar } from '../parts/charts'
import { Copyable, KindLabel, Name, Note, Nothing, Time } from '../parts/common'
import { Choice, Field } from '../parts/form'
import { count, entryAt, plain, plural, score, withQuery } from '../parts/words'
import { callerOf, principalOf, queryNumber, queryParameter, type Visit } from '../visit'

const LEFT_OUT: Readonly<Record<OmittedEntry['why'], string>> = {
  limit: 'beyond the limit',
  budget: 'over the token budget',
  duplicate: 'already included',
  superseded: 'superseded',
  cut: 'below the cut',
}

/** Explanations of the causes. */
const MEANS: Readonly<Record<OmittedEntry['why'], string>> = {
  limit: 'They fit the goal, but better ones fill the pack.',
  budget: 'They fit the goal, but not into the token budget.',
  duplicate: 'They repeat a memory that is in the pack.',
  superseded: 'A newer memory replaces them.',
  cut: 'Their scores are below half of the best score.',
}

const WHYS = ['superseded', 'cut', 'budget', 'duplicate', 'limit'] as const

const isCounted = (why: OmittedEntry['why']): why is OmissionReason => why !== 'cut'

interface LeftOutProps {
  readonly of: readonly OmittedEntry[]
  readonly omitted: Omitted
  /** Address of the explanation for a memory. */
  readonly explain: (id: number) => string
  readonly trace: Compiled['trace']
}

/** Lists the memories that were found but are not in the pack, by cause. */
const LeftOutList = ({ of, omitted, explain, trace }: LeftOutProps) =>
  of.length === 0 ? null : (
    <section class="card" id="left-out">
      <h2>Left out</h2>
      {WHYS.map((cause) => {
        const some = of.filter(({ why }) => why === cause)
        return some.length === 0 ? null : (
          <details open={some.length <= OPEN}>
            <summary>
              {isCounted(cause) || some.length < MOST_NAMED ? '' : 'At least '}
              {plural(isCounted(cause) ? omitted[cause] : some.length, 'memory', 'memories')} {LEFT_OUT[cause]}
            </summary>
            <p class="hint">{MEANS[cause]}</p>
            <ol class="more toc">
              {some.map(({ id, name, score: value }) => {
                const { place, repeats } = trace(id)
                return (
                  <li>
                    <span>
                      <a class="quiet" href={entryAt(id)}>
                        <Name>{name || `Memory ${id}`}</Name>
                      </a>
                      {repeats === null ? null : (
                        <span class="soft">
                          {' '}
                          repeats <a href={entryAt(repeats)}>memory {repeats}</a>
                        </span>
                      )}
                    </span>
                    <span class="score">
                      {place === null ? null : <span>place {place}</span>}
                      {score(value)}
                      <a href={explain(id)}>
                        Why?<span class="hidden"> {name}</span>
                      </a>
                    </span>
                  </li>
                )
              })}
            </ol>
          </details>
        )
      })}
    </section>
  )

/** Results that the service names for each cause. */
const MOST_NAMED = 20
/** Number of memories shown without a click. */
const OPEN = 6

/** Shows a pack: each item with its reason and score, and the memories that were left out. */
const CHARS_PER_TOKEN = 4

const Item = ({ of, now }: { of: PackItem; now: Millis }) => (
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
      {of.quality.created_at === null ? null : <Time at={Date.parse(of.quality.created_at)} now={now} />}
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

function Summary({ pack, cut }: { pack: Pack; cut: number }) {
  const { goal, project, sections, diagnostics, markdown, total_items: total } = pack
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
            <dd>
              {count(isCounted(why) ? omitted[why] : cut)}
              {isCounted(why) || cut < MOST_NAMED ? '' : '+'}
            </dd>
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

/** The pack as the agent reads it, to copy. */
const AsMarkdown = ({ markdown }: { markdown: string }) => (
  <section class="card" id="markdown">
    <details>
      <summary>As the agent reads it (Markdown)</summary>
      <div class="more">
        <Copyable text={markdown} label="The pack as Markdown" />
      </div>
    </details>
  </section>
)

function Shown({ of: { pack, leftOut, trace }, now }: { of: Compiled; now: Millis }) {
  const { goal, project, sections, diagnostics, markdown, total_items: total } = pack
  const explain = (id: number) => withQuery('/why', { query: goal, id, project })
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
                  <Item of={item} now={now} />
                ))}
              </ol>
            </section>
          ))}
          <LeftOutList of={leftOut} omitted={diagnostics.omitted} explain={explain} trace={trace} />
          <AsMarkdown markdown={markdown} />
        </div>
        <div class="beside">
          <Summary pack={pack} cut={leftOut.filter(({ why }) => why === 'cut').length} />
        </div>
      </div>
    </>
  )
}

const itemsOf = ({ pack }: Compiled): PackItem[] => pack.sections.flatMap(({ items }) => items)

/** Why a pack does not have a memory that the other one has. */
function missing({ leftOut, trace }: Compiled, id: string): string {
  const why = leftOut.find((one) => String(one.id) === id)?.why
  if (why !== undefined) return LEFT_OUT[why]
  const { outcome } = trace(Number(id))
  return outcome === 'absent' || outcome === 'shown'
    ? 'not found'
    : outcome === 'doubt'
      ? 'nothing clearly fits'
      : LEFT_OUT[outcome]
}

interface SideProps {
  readonly title: string
  readonly items: readonly PackItem[]
  /** The pack that lacks them; null for items of both. */
  readonly lacks: Compiled | null
  /** The items of the second pack, whose scores are shown next to those of the first. */
  readonly also?: readonly PackItem[]
}

/** The scores of an item in both packs, as far as it is in them. */
const scores = (item: PackItem, also: readonly PackItem[]): string =>
  [item, ...also.filter(({ id }) => id === item.id)].map((one) => score(one.score)).join(' → ')

const Side = ({ title, items, lacks, also = [] }: SideProps) => (
  <section class="card">
    <h2>
      {title} <span class="soft">{count(items.length)}</span>
    </h2>
    {items.length === 0 ? (
      <p class="soft">None</p>
    ) : (
      <ol class="list">
        {items.map((item) => (
          <li data-row>
            <p class="title">
              <a href={entryAt(item.id)} data-open>
                <Name>{item.name || `Memory ${item.id}`}</Name>
              </a>
              <span class="score">{scores(item, also)}</span>
            </p>
            <p class="facts one">
              <KindLabel kind={item.type} />
              <Name>{item.reason}</Name>
            </p>
            {lacks === null ? null : <p class="facts">Other goal: {missing(lacks, item.id)}</p>}
          </li>
        ))}
      </ol>
    )}
  </section>
)

/** Shows what two goals have in common, and what only one of them gets. */
function Compared({ first, second }: { first: Compiled; second: Compiled }) {
  const [a, b] = [itemsOf(first), itemsOf(second)]
  const has = (items: readonly PackItem[], { id }: PackItem) => items.some((one) => one.id === id)
  return (
    <section class="stack" aria-label="Comparison">
      <div class="grid">
        <Side title={`Only “${first.pack.goal}”`} items={a.filter((item) => !has(b, item))} lacks={second} />
        <Side title={`Only “${second.pack.goal}”`} items={b.filter((item) => !has(a, item))} lacks={first} />
      </div>
      <Side title="Both goals" items={a.filter((item) => has(b, item))} lacks={null} also={b} />
      <AsMarkdown markdown={`${first.pack.markdown}\n\n---\n\n${second.pack.markdown}`} />
    </section>
  )
}

/** Shows the pack that an agent would get for a goal, the reason of each item, and what was left out. */
const [LEAST_TOKENS, MOST_TOKENS] = [100, 32_000]

const LAYER_WORDS = { wake: 'short, at session start', recall: 'for one goal', deep_search: 'broad' } as const

interface Wanted {
  readonly goal: string | null
  /** A second goal to compare with. */
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

interface FormProps {
  readonly wanted: Wanted
  readonly error: string | undefined
}

const Form = ({ wanted: { goal, other, intent, layer, project, domain, agent, budget }, error }: FormProps) => (
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
      <Field name="project" label="Project" value={project} suggest />
      <Field name="agent" label="Agent" value={agent} hint="Includes its diary" suggest />
    </div>
    <details class="more" open={other !== null || domain !== null || budget > 0 || error !== undefined}>
      <summary>Compare, budget and subject area</summary>
      <div class="fields">
        <Field name="other" label="Compare with another goal" value={other} />
        <Field
          name="budget"
          label="Budget in tokens"
          value={budget === 0 ? '' : String(budget)}
          inputmode="numeric"
          error={error}
        />
        <Field name="domain" label="Subject area" value={domain} />
      </div>
    </details>
  </form>
)

async function compile(visit: Visit, wanted: Wanted, goal: string): Promise<Compiled> {
  const { intent, layer, project, domain, agent, budget } = wanted
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
  const { goal, other, budget } = wanted
  const error =
    budget > 0 && budget < LEAST_TOKENS
      ? `The budget must be a whole number from ${LEAST_TOKENS} to ${count(MOST_TOKENS)}.`
      : undefined
  const goals = error === undefined && goal !== null ? [goal, ...(other === null ? [] : [other])] : []
  const [first, second] = await Promise.all(goals.map((one) => compile(visit, wanted, one)))
  return {
    title: goal === null ? 'Pack' : `Pack: ${goal}`,
    at: '/pack',
    status: error === undefined ? 200 : 400,
    body: (
      <div class="stack">
        <div class="head">
          <h1>What would an agent get?</h1>
          <p>Enter a goal to see the pack, why each memory is in it, and what was left out.</p>
        </div>
        <Form wanted={wanted} error={error} />
        {first === undefined ? (
          <section class="card">
            <Nothing title="Enter what an agent is about to do">
              <p>
                Clients ask for a pack with the tool “context” before a piece of work. It holds up to{' '}
                {DEPTHS.recall.items} memories, in about {count(DEPTHS.recall.tokens)} tokens: work in flight,
                decisions, rules, what went wrong before, and what is linked to them.
              </p>
            </Nothing>
          </section>
        ) : second === undefined ? (
          <Shown of={first} now={visit.services.now()} />
        ) : (
          <Compared first={first} second={second} />
        )}
      </div>
    ),
  }
}
