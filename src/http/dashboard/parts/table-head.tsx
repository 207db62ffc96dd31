import { samePage } from './words'

/** Column headers that sort a table by links, without script. */
export interface Column {
  readonly name: string
  /** Whether only screen readers get the name. */
  readonly isHidden?: boolean
  /** The value of the parameter `sort`; absent for a column that does not sort. */
  readonly sort?: string
  readonly isNumber?: boolean
  /** Left out on small screens. */
  readonly isWide?: boolean
}

interface HeadProps {
  readonly url: URL
  readonly columns: readonly Column[]
  /** The present order. */
  readonly sort: string
}

export const Head = ({ url, columns, sort }: HeadProps) => (
  <thead>
    <tr>
      {columns.map(({ name, isHidden = false, sort: by, isNumber = false, isWide = false }) => (
        <th
          scope="col"
          class={[isNumber ? 'num' : '', isWide ? 'wide-only' : ''].join(' ').trim() || undefined}
          aria-sort={by !== undefined && by === sort ? (isNumber ? 'descending' : 'ascending') : undefined}
        >
          {by === undefined ? (
            <span class={isHidden ? 'hidden' : undefined}>{name}</span>
          ) : (
            <a class="sort" href={samePage(url, { sort: by, offset: null, done: null, change: null })}>
              {name}
              {by === sort ? <span aria-hidden="true">{isNumber ? ' ↓' : ' ↑'}</span> : null}
            </a>
          )}
        </th>
      ))}
    </tr>
  </thead>
)

/** Returns the requested order, or the first of those known. */
export const sortOf = <Sort extends string>(url: URL, known: readonly [Sort, ...Sort[]]): Sort =>
  known.find((one) => one === url.searchParams.get('sort')) ?? known[0]
