import { FACET_TITLES } from '../../../domain/pack/facets'
import type { Pack, PackItem } from '../../../domain/pack/pack'
import type { Compiled } from '../../../services/pack/compile-pack'
import { entryAt } from '../parts/addresses'
import { Bar } from '../parts/charts'
import { Copyable, Kind, Name, Note, Nothing } from '../parts/common'
import { count, plain, plural, score } from '../parts/words'
import { LEFT_OUT, LeftOutList, WHYS } from './pack-left-out'

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

function Summary({ pack: { sections, diagnostics, markdown, total_items: total } }: { pack: Pack }) {
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
              {FACET_TITLES[facet]}
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
              <h2>{FACET_TITLES[facet]}</h2>
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
