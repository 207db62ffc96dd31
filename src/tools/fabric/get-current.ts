import * as z from 'zod'
import type { Scope } from '../../domain/identity/scope'
import { type Excerpt, excerptsOf } from '../../domain/recall/excerpts'
import { normalPath } from '../../domain/recall/file-paths'
import { codePointLength } from '../../domain/text'
import { collectIssues } from '../../domain/validation'
import type { Current } from '../../services/searching/memories/current'
import { defineTool } from '../define-tool'
import { listOf, part } from '../fields'
import { soundArguments } from '../parse-arguments'
import { fabric } from './family'
import {
  checkAsked,
  fabricOutput,
  iso,
  leanMemory,
  memoryOutput,
  omittedMemories,
  projectPath,
  replaced,
  sessionId,
} from './memory-serializer'

const text = (description: string) => z.string().optional().meta({ description })
const given = (value: string | undefined): string | null => (value === undefined || value.trim() === '' ? null : value)
const item = z.looseObject({ id: z.string() })

/** Code points of all contents together, and of the complete answer (2,500 tokens). */
const BUDGET = { contents: 4_000, answer: 10_000 } as const
/** Minimum budget of contents; below it, fewer memories are shown instead of shorter ones. */
const LEAST_BUDGET = 1_200

const input = z.strictObject({
  sessionId,
  currentFile: text('Open file'),
  currentCommand: text('Command being run'),
  projectPath,
  language: text('Only patterns in it'),
  filePath: text('Only patterns of this file, its folder or extension'),
})

/** Checks the arguments and returns the project. @throws Problem that lists every problem */
const checked = (scope: Scope, { sessionId, projectPath }: Partial<z.output<typeof input>>): string | null =>
  collectIssues((wrong) => checkAsked(scope, { sessionId, projectPath }, wrong))

/** Number of items in each list. */
interface Counts {
  readonly working: number
  readonly relevant: number
  readonly patterns: number
}

/** Serializes a number of memories, whose contents share a budget of code points. */
function shownOf(current: Current, counts: Counts, budget: number, project: string | null) {
  const working = current.working.slice(0, counts.working)
  const relevant = current.relevant.slice(0, counts.relevant)
  const patterns = current.patterns.slice(0, counts.patterns)
  const contents = [...[...working, ...relevant].map((memory) => memory.text), ...patterns.map(({ code }) => code)]
  const excerpts = excerptsOf(
    contents.map((one) => ({ text: one, around: null })),
    budget,
  )
  const excerpt = (at: number): Excerpt => excerpts[at] as Excerpt
  return {
    working: working.map((memory, i) => leanMemory(memory, excerpt(i), project)),
    relevant: relevant.map((memory, i) => leanMemory(memory, excerpt(working.length + i), project)),
    patterns: patterns.map(({ memory, id, lastUsedAt, relatedFiles, ...rest }, i) => {
      const { content: code, ...cut } = excerpt(working.length + relevant.length + i)
      return {
        ...{ id: String(id), ...rest, code, ...cut, lastUsedAt: iso(lastUsedAt), relatedFiles: [...relatedFiles] },
        ...replaced(memory),
      }
    }),
    suggestions: current.suggestions.map(({ sources, ...rest }) => ({ ...rest, sourceMemoryIds: sources.map(String) })),
    ghostMessages: current.ghostMessages.map(({ id, content, at, trigger }) => ({
      ...{ id, role: 'note', content, timestamp: iso(at), isVisible: false, trigger },
    })),
  }
}

/** Fits the answer into its budget: first contents are cut, then the last items of the longest list are dropped. */
function fitted(current: Current, project: string | null) {
  const { working, relevant, patterns } = current
  let counts: Counts = { working: working.length, relevant: relevant.length, patterns: patterns.length }
  for (let budget: number = BUDGET.contents; ; ) {
    const shown = shownOf(current, counts, budget, project)
    const over = codePointLength(JSON.stringify({ context: shown })) - BUDGET.answer
    const total = counts.working + counts.relevant + counts.patterns
    if (over <= 0 || total <= 1) return shown
    if (budget > LEAST_BUDGET) budget = Math.max(LEAST_BUDGET, budget - Math.max(over, 100))
    else {
      const most = Math.max(counts.working, counts.relevant, counts.patterns)
      const last = (['relevant', 'working', 'patterns'] as const).find((list) => counts[list] === most) ?? 'relevant'
      counts = { ...counts, [last]: most - 1 }
    }
  }
}

export const getCurrent = defineTool({
  family: fabric,
  name: 'context_getCurrent',
  title: 'Get the current context',
  description:
    'Get what matters now: working notes, relevant memories and patterns for the open file and command, with suggestions. ' +
    'Contents are excerpts; context_get returns all.',
  example: { projectPath: 'ferry', currentFile: 'src/users.ts' },
  promise: 'FABRIC-68',
  budget: { tokens: 190, trips: 4, reads: [4_050, 6_350], writes: 0 },
  input,
  output: fabricOutput({
    context: part('Now', {
      working: listOf(memoryOutput, 'Memory'),
      relevant: listOf(memoryOutput, 'Memory'),
      patterns: listOf(item, 'Pattern'),
      suggestions: listOf(item, 'Suggestion'),
      ghostMessages: listOf(item, 'Hint'),
    }),
  }),
  inspect: (args, { principal }) => void checked(principal, soundArguments(input, args)),
  async handler({ services, principal }, args) {
    const project = checked(principal, args)
    const path = (value: string | undefined): string | null => {
      const named = given(value)
      return named === null ? null : normalPath(named.trim(), project)
    }
    const current = await services.getCurrent(principal, {
      project,
      sessionId: args.sessionId ?? null,
      currentFile: path(args.currentFile),
      currentCommand: given(args.currentCommand)?.trim() ?? null,
      language: given(args.language),
      filePath: path(args.filePath),
    })
    const context = fitted(current, project)
    const shown = new Set([...context.working, ...context.relevant, ...context.patterns].map(({ id }) => String(id)))
    const found = [...current.working, ...current.relevant, ...current.patterns].map(({ id }) => id)
    return { context, ...omittedMemories([...new Set(found)].filter((id) => !shown.has(String(id)))) }
  },
})
