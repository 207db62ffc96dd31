import { createTwoFilesPatch } from 'diff'

/** Characters of a diff that a result shows. */
const MAX_SHOWN = 20_000
/** Lines of both texts together that are compared: more would take as many steps whatever differs. */
const MAX_LINES = 40_000
/** Lines that differ; the work grows with the square of it. */
const MAX_EDITS = 200

const TOO_DIFFERENT = '(too large or too different for a diff; read both versions)'
const CUT = '\n(cut; read both versions for the rest)'

function lines(text: string): number {
  let count = 1
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) count++
  return count
}

/** A unified diff of two versions of a text, or a note in its place where it would take too long. */
export function textDiff(
  before: { readonly version: number; readonly text: string },
  after: { readonly version: number; readonly text: string },
): string {
  if (lines(before.text) + lines(after.text) > MAX_LINES) return TOO_DIFFERENT
  const name = ({ version }: { readonly version: number }) => `version ${version}`
  const options = { context: 3, maxEditLength: MAX_EDITS }
  const patch = createTwoFilesPatch(name(before), name(after), before.text, after.text, '', '', options)
  if (patch === undefined) return TOO_DIFFERENT
  // The first line only underlines.
  const shown = patch.slice(patch.indexOf('\n') + 1)
  return shown.length <= MAX_SHOWN ? shown : `${shown.slice(0, MAX_SHOWN).replace(/[\ud800-\udbff]$/, '')}${CUT}`
}
