import { Problem } from '../../../domain/errors'
import { STATUS } from '../../status'
import type { Page } from '../page'
import { Note, Nothing, Pages } from '../parts/common'
import { principalOf, type Visit } from '../visit'
import { SearchForm } from './search-form'
import { Result } from './search-result'
import { asksNothing, type Found, readSearch, search, type Wanted } from './searching'

/** Searches memories and shows why each result was found. The address holds the search. */
const Results = ({ visit, found, isRanked }: { visit: Visit; found: Found; isRanked: boolean }) => (
  <>
    {found.warnings.map((warning) => (
      <Note>{warning}</Note>
    ))}
    <section class="card">
      {found.total > 0 ? (
        <h2>{found.heading}</h2>
      ) : (
        <Nothing title="No matching memory that this key can see">
          <p>Try other words, search by meaning, or remove conditions.</p>
        </Nothing>
      )}
      <ol class="list">
        {found.results.map((result) => (
          <Result of={result} now={visit.services.now()} />
        ))}
      </ol>
      <Pages
        {...{ url: visit.url, isRanked, offset: found.offset, total: found.total, size: found.size }}
        shown={found.results.length}
      />
    </section>
  </>
)

/** Shows the results, or the error, below the form. */
async function sought(visit: Visit, wanted: Wanted): Promise<Found | Problem | null> {
  if (asksNothing(wanted)) return null
  try {
    return await search(visit, wanted)
  } catch (error) {
    if (error instanceof Problem && (error.code === 'invalid_input' || error.code === 'limit_exceeded')) return error
    throw error
  }
}

export async function searchPage(visit: Visit): Promise<Page> {
  principalOf(visit)
  const wanted = readSearch(visit)
  const found = await sought(visit, wanted)
  return {
    status: found instanceof Problem ? STATUS[found.code] : 200,
    title: wanted.query === null ? 'Search' : `Search: ${wanted.query}`,
    at: '/search',
    body: (
      <div class="stack">
        <div class="head">
          <h1>Search</h1>
        </div>
        <SearchForm visit={visit} wanted={wanted} />
        {found === null ? (
          <section class="card">
            <Nothing title="Search as an agent does">
              <p>
                A question finds what was said in other words; names of files and errors are found by their letters.
                Each result shows why it was found. With conditions only, the newest memories are listed.
              </p>
            </Nothing>
          </section>
        ) : found instanceof Problem ? (
          <Note bad>{found.message}</Note>
        ) : (
          <Results visit={visit} found={found} isRanked={wanted.query !== null} />
        )}
      </div>
    ),
  }
}
