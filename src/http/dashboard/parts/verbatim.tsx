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
