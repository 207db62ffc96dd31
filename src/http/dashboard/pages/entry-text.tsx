import { samePage } from '../parts/addresses'
import { Markdown } from '../parts/markdown'
import { Verbatim } from '../parts/verbatim'
import { asked, type Visit } from '../visit'

/** Shows a text as Markdown, or exactly as stored. */
export const StoredText = ({ visit, text }: { visit: Visit; text: string }) => {
  const isPlain = asked(visit, 'as') === 'text'
  return (
    <div class="text-of more">
      {isPlain ? <Verbatim text={text} /> : <Markdown text={text} />}
      <p class="hint">
        <a class="quiet" href={samePage(visit.url, { as: isPlain ? null : 'text' })}>
          {isPlain ? 'Show as Markdown' : 'Show as stored'}
        </a>
      </p>
    </div>
  )
}
