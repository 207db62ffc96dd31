import type { Explanation, MissCause } from '../../../services/why/explain-miss'
import { explain } from '../../why'
import type { Page } from '../page'
import { Note, Nothing } from '../parts/common'
import { Choice, Field } from '../parts/form'
import { entryAt, score } from '../parts/words'
import { callerOf, principalOf, queryParameter, type Visit } from '../visit'

/** Explains why a call did not return a memory. */

const TITLES: Readonly<Record<MissCause, string>> = {
  returned: 'It was returned',
  not_found: 'Not found or not yours',
  expired: 'Expired',
  deleted: 'Deleted',
  not_stored: 'Not stored at that time',
  review: 'Waits for review',
  diary: 'A diary page',
  archived: 'Archived',
  project: 'Another project',
  filter: 'A filter',
  approval: 'Not approved',
  ended: 'No longer valid',
  superseded: 'Superseded',
  not_indexed: 'Not indexed yet',
  duplicate: 'Nearly the same as another memory',
  budget: 'Token budget',
  rank: 'Rank',
  cut: 'Below half of the best score',
  doubt: 'Nothing clearly fits',
  no_match: 'No match',
}

const PARAMETERS = ['query', 'id', 'tool', 'project', 'as_of', 'kind', 'limit'] as const

const Form = ({ visit }: { visit: Visit }) => {
  const value = (name: (typeof PARAMETERS)[number]) => queryParameter(visit, name)
  return (
    <form method="get" action="/why" class="card">
      <div class="searchbox">
        <input
          name="query"
          value={value('query') ?? ''}
          aria-label="Query or goal"
          placeholder="The query or goal of the call"
          required
          autocomplete="off"
        />
        <button type="submit" class="main">
          Explain
        </button>
      </div>
      <div class="fields more">
        <Field
          name="id"
          label="Memory"
          value={value('id')}
          required
          finds="memories"
          hint="Its ID, or words to find it"
        />
        <Choice
          name="tool"
          label="Tool"
          value={value('tool')}
          options={[
            ['context', 'context: a pack'],
            ['search', 'search'],
          ]}
        />
        <Field name="project" label="Project" value={value('project')} suggest />
      </div>
      <details class="more" open={['as_of', 'kind', 'limit'].some((name) => value(name as 'limit') !== null)}>
        <summary>More</summary>
        <div class="fields">
          <Field name="as_of" label="As of" value={value('as_of')} placeholder="2 days ago" />
          <Field name="kind" label="Kinds" value={value('kind')} />
          <Field name="limit" label="Limit" value={value('limit')} inputmode="numeric" />
        </div>
      </details>
    </form>
  )
}

const Places = ({ of: { ranked, last } }: { of: Explanation }) => {
  const rows = [
    ...(ranked === null ? [] : [{ ...ranked, name: 'This memory' }]),
    ...(last === null || last.id === ranked?.id ? [] : [{ ...last, name: 'The last one returned for its score' }]),
  ]
  return rows.length === 0 ? null : (
    <table class="more">
      <thead>
        <tr>
          <th scope="col">Memory</th>
          <th scope="col" class="num">
            Place
          </th>
          <th scope="col" class="num">
            Score
          </th>
        </tr>
      </thead>
      <tbody>
        {rows.map(({ id, name, place, score: value }) => (
          <tr>
            <td>
              <a href={entryAt(id)}>
                {name} ({id})
              </a>
            </td>
            <td class="num">{place}</td>
            <td class="num">{score(value)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}

const Shown = ({ of }: { of: Explanation }) => (
  <section class="card">
    {of.causes.map(({ cause, message, other }, i) => (
      <div class={i === 0 ? '' : 'more'}>
        <h2>{i === 0 ? TITLES[cause] : `Also: ${TITLES[cause]}`}</h2>
        <p>{message}</p>
        {other === undefined ? null : (
          <p>
            <a href={entryAt(other)}>Memory {other}</a>
          </p>
        )}
      </div>
    ))}
    <Places of={of} />
    {of.notes.map((note) => (
      <Note>{note}</Note>
    ))}
  </section>
)

export async function why(visit: Visit): Promise<Page> {
  principalOf(visit)
  const { services, config, url } = visit
  const given = PARAMETERS.flatMap((name) => {
    const value = queryParameter(visit, name)
    return value === null ? [] : [[name, value] as const]
  })
  const query = Object.fromEntries(given)
  const isAsked = query.query !== undefined && query.id !== undefined
  const explanation = isAsked
    ? await explain({ services, config, origin: url.origin }, callerOf(visit, 'why'), query)
    : null
  return {
    title: 'Why not?',
    at: '/pack',
    body: (
      <div class="stack">
        <div class="head">
          <h1>Why not?</h1>
          <p>Make a call again and see why it does not return a memory.</p>
        </div>
        <Form visit={visit} />
        {explanation === null ? (
          <section class="card">
            <Nothing title="Enter a query or goal, and the memory that you expected">
              <p>The server does not store texts of calls, so you enter the text again.</p>
            </Nothing>
          </section>
        ) : (
          <Shown of={explanation} />
        )}
      </div>
    ),
  }
}
