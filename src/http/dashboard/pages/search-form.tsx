import { OPERATORS, type Operator } from '../../../tools/metadata-condition'
import { Choice, Field } from '../parts/form'
import type { Visit } from '../visit'
import type { Condition } from './conditions'
import { LEGS, type Leg, MODES, type Wanted } from './searching'

/** The form of a search. Without a script there is one empty row for a further condition. */
const LEG_WORDS: Readonly<Record<Leg, string>> = { both: 'Words and meaning', words: 'Words', meaning: 'Meaning' }

/** Labels of the comparisons. */
const OPERATOR_WORDS: Readonly<Record<Operator, string>> = {
  eq: 'is',
  ne: 'is not',
  gt: 'is more than',
  gte: 'is at least',
  lt: 'is less than',
  lte: 'is at most',
  in: 'is one of',
  not_in: 'is none of',
  exists: 'is there',
  not_exists: 'is missing',
  contains: 'contains',
  starts_with: 'begins with',
  ends_with: 'ends with',
  is_null: 'is null',
  is_not_null: 'is not null',
  array_contains: 'is a list that contains',
}

const ConditionRow = ({ of: { key, operator, value } }: { of: Condition }) => (
  <div>
    <input
      name="field"
      value={key}
      aria-label="Metadata key"
      placeholder="key, as in status or a.b"
      autocomplete="off"
    />
    <select name="op" aria-label="Comparison">
      {OPERATORS.map((one) => (
        <option value={one} selected={one === operator}>
          {OPERATOR_WORDS[one]}
        </option>
      ))}
    </select>
    <input name="value" value={value} aria-label="Value" placeholder="value" autocomplete="off" />
  </div>
)

const EMPTY: Condition = { key: '', operator: 'eq', value: '' }

const Conditions = ({ wanted }: { wanted: Wanted }) => {
  const { thread, project, tag, source, from, to, conditions, mode } = wanted
  const isOpen = [thread, project, tag, source, from, to].some((value) => value !== null) || conditions.length > 0
  return (
    <details class="more" open={isOpen || mode !== 'match'}>
      <summary>Conditions</summary>
      <div class="fields">
        <Field name="thread" label="Thread" value={thread} />
        <Field name="project" label="Project" value={project} />
        <Field name="tag" label="Tag" value={tag} />
        <Choice
          name="source"
          label="Said by"
          value={source}
          options={[
            ['', 'anybody'],
            ['user', 'people'],
            ['agent', 'agents'],
          ]}
        />
        <Field name="from" label="From" value={from} type="date" />
        <Field name="to" label="Until" value={to} type="date" />
        <Choice
          name="mode"
          label="Words are"
          value={mode}
          options={MODES.map((one) => [
            one,
            { match: 'matched', prefix: 'beginnings', phrase: 'a phrase', boolean: 'a formula' }[one],
          ])}
        />
      </div>
      <fieldset class="switch">
        <legend>Metadata</legend>
      </fieldset>
      <div class="conditions">
        {[...conditions, EMPTY].map((one) => (
          <ConditionRow of={one} />
        ))}
      </div>
    </details>
  )
}

export const SearchForm = ({ visit: { config }, wanted }: { visit: Visit; wanted: Wanted }) => (
  <search>
    <form method="get" action="/search" class="card">
      <div class="searchbox">
        <input
          type="search"
          name="q"
          value={wanted.query ?? ''}
          aria-label="Search memories"
          placeholder="What do we know about …"
          autocomplete="off"
          maxlength={10_000}
        />
        <button type="submit" class="main">
          Search
        </button>
      </div>
      {config.fts.enabled && config.semantic.enabled ? (
        <fieldset class="switch">
          <legend>By</legend>
          {LEGS.map((leg) => (
            <label>
              <input type="radio" name="by" value={leg} checked={wanted.by === leg} />
              {LEG_WORDS[leg]}
            </label>
          ))}
        </fieldset>
      ) : null}
      <Conditions wanted={wanted} />
    </form>
  </search>
)
