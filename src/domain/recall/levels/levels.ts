import type { Levels } from '../similarity'

/** What cosines of models mean (fabric contract §4). */
const LOCAL: Levels = { nothing: 0.02, answer: 0.37, doubt: 0.45 }
const MINILM: Levels = { nothing: 0, answer: 0.6, doubt: 0.63 }
const E5_SMALL: Levels = { nothing: 0.79, answer: 0.89, doubt: 1.1 }

/** As providers spell all-MiniLM-L6-v2; that of Ollama is it where no size is named. */
const MINILM_NAMES: ReadonlySet<string> = new Set([
  'all-minilm-l6-v2',
  'all-minilm',
  'all-minilm:latest',
  'all-minilm:22m',
  'all-minilm:l6-v2',
])

/** The levels of a model that was measured well; null for any other. */
export function knownLevels({ provider, model }: { readonly provider: string; readonly model: string }): Levels | null {
  if (provider === 'local') return LOCAL
  const name = model.toLowerCase()
  const bare = name.slice(name.lastIndexOf('/') + 1)
  if (bare === 'multilingual-e5-small') return E5_SMALL
  return MINILM_NAMES.has(bare) ? MINILM : null
}

/** @param cosines of each question with each text; those of one place belong together, the others have nothing in common */
export function levelsOf(cosines: readonly (readonly number[])[]): Levels {
  const crossed = cosines.flatMap((row, i) => row.filter((_, j) => j !== i))
  const matched = cosines.map((row, i) => row[i] as number).sort((a, b) => a - b)
  const middle = matched.length / 2
  return {
    nothing: crossed.reduce((sum, one) => sum + one, 0) / crossed.length,
    answer: ((matched[Math.ceil(middle) - 1] as number) + (matched[Math.floor(middle)] as number)) / 2,
  }
}
