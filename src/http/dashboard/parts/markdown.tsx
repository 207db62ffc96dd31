import { type Child, jsx } from 'hono/jsx'
import { type Shape, shapesOf } from '../../../domain/reading/markdown-tree'

/**
 * Length in UTF-16 units from which a text has one direction for all its lines. A direction per line makes Chromium take many seconds
 * to lay out a text of a megabyte.
 */
const LONG = 50_000

/** Renders a text exactly as it was stored. */
export const Verbatim = ({ text }: { text: string }) =>
  text.length > LONG ? (
    <pre class="text" tabindex={0} dir="auto" data-long="">
      {text}
    </pre>
  ) : (
    <pre class="text" tabindex={0}>
      {text}
    </pre>
  )

/** Renders a stored text as Markdown. JSX escapes every character; line breaks are preserved. */
function written(shape: Shape): Child {
  if (typeof shape === 'string') return shape
  const parts = shape.parts.map(written)
  switch (shape.as) {
    case 'a':
      return (
        <a href={shape.href} title={shape.href} rel="noopener noreferrer nofollow">
          {parts}
        </a>
      )
    case 'pre':
      return <pre tabindex={0}>{parts}</pre>
    case 'heading':
      return <p class="heading">{parts}</p>
    case 'hr':
      return <hr />
    case 'ol':
      return <ol start={shape.start}>{parts}</ol>
    default:
      return jsx(shape.as, {}, ...parts)
  }
}

/** @param text as it was stored, or a preview of it */
export function Markdown({ text }: { text: string }) {
  const shapes = shapesOf(text)
  return shapes === null ? (
    <Verbatim text={text} />
  ) : (
    <div class="prose" dir="auto">
      {shapes.map(written)}
    </div>
  )
}
