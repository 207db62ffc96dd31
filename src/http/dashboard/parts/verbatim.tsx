/**
 * UTF-16 units from which a text has the direction of its beginning. Where each of its lines has one of its own, Chromium took 28 seconds
 * to lay out a line of a megabyte at 360 px, beside much other work; with one for all it took 6.
 */
const LONG = 50_000

/** A text character for character as it was stored. */
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
