import { z } from 'zod'
import { inspected } from '../../domain/flaws'
import type { Scope } from '../../domain/identity/scope'
import type { Pattern } from '../../domain/recall/current'
import { defineTool } from '../define-tool'
import { listOf, part } from '../fields'
import { soundArguments } from '../parse-arguments'
import { fitting } from '../result-size'
import { fabric } from './family'
import { memoryOutput, shownMemory } from './memory-wire'
import { checkAsked, fabricOutput, iso, omittedMemories, projectPath, sessionId } from './wire'

const text = (description: string) => z.string().optional().meta({ description })
const given = (value: string | undefined): string | null => (value === undefined || value.trim() === '' ? null : value)
const item = z.looseObject({ id: z.string() })

const shownPattern = ({ id, lastUsedAt, relatedFiles, ...rest }: Pattern) => ({
  ...{ id: String(id), ...rest, lastUsedAt: iso(lastUsedAt), relatedFiles: [...relatedFiles] },
})

const input = z.strictObject({
  sessionId,
  currentFile: text('Open file'),
  currentCommand: text('Command being run'),
  projectPath,
  language: text('Only patterns in it'),
  filePath: text('Only patterns of this file, its folder or extension'),
})

/** The project that is named. @throws Problem that tells everything that is wrong with what is given */
const checked = (scope: Scope, { sessionId, projectPath }: Partial<z.output<typeof input>>): string | null =>
  inspected((wrong) => checkAsked(scope, { sessionId, projectPath }, wrong))

export const getCurrent = defineTool({
  family: fabric,
  name: 'context_getCurrent',
  title: 'Get the current context',
  description:
    'What matters now: working notes, relevant memories and patterns for the open file and command, and what they suggest.',
  effect: 'read',
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
    const current = await services.getCurrent(principal, {
      project,
      sessionId: args.sessionId ?? null,
      currentFile: given(args.currentFile),
      currentCommand: given(args.currentCommand),
      language: given(args.language),
      filePath: given(args.filePath),
    })
    const of = (kind: 'working' | 'relevant') =>
      current[kind].map((memory) => ({ kind, entry: memory, show: () => shownMemory(memory) }))
    const patterns = current.patterns.map((pattern) => ({
      ...{ kind: 'patterns', entry: { id: pattern.id, images: [] }, show: () => shownPattern(pattern) },
    }))
    const { kept, omitted } = await fitting<(typeof patterns)[number] | ReturnType<typeof of>[number]>(
      [...of('working'), ...of('relevant'), ...patterns],
      services.pace,
    )
    const shown = (kind: string) => kept.filter((one) => one.kind === kind).map((one) => one.shown)
    return {
      context: {
        ...{ working: shown('working'), relevant: shown('relevant'), patterns: shown('patterns') },
        suggestions: current.suggestions.map(({ sources, ...rest }) => ({
          ...rest,
          sourceMemoryIds: sources.map(String),
        })),
        ghostMessages: current.ghostMessages.map(({ id, content, at, trigger }) => ({
          ...{ id, role: 'system', content, timestamp: iso(at), isVisible: false, trigger },
        })),
      },
      ...omittedMemories(omitted),
    }
  },
})
