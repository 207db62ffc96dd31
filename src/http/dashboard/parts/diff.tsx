/** A unified diff of two texts, line by line. */
const kindOf = (line: string): string | undefined =>
  line.startsWith('@@') ? 'place' : line.startsWith('+') ? 'add' : line.startsWith('-') ? 'cut' : undefined

/** The names of both sides, which the page says itself, and that a text has no line break at its end, as most have none. */
const isBeside = (line: string, i: number): boolean => (i < 2 && /^(---|\+\+\+) /.test(line)) || line.startsWith('\\ ')

export const Diff = ({ text }: { text: string }) => {
  const lines = text.split('\n')
  return (
    <pre class="diff" tabindex={0}>
      {lines
        .filter((line, i) => !isBeside(line, i) && !(i === lines.length - 1 && line === ''))
        .map((line) => (
          <span class={kindOf(line)}>{line === '' ? ' ' : line}</span>
        ))}
    </pre>
  )
}
