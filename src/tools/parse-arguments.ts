import type * as z from 'zod'
import { Inspection } from '../domain/flaws'
import { Unkept } from '../domain/json/unkept'
import { unstorable } from '../domain/text'
import { describe } from './argument-issues'
import type { Family } from './family'
import { type Effect, forgiven } from './forgiving'
import type { JsonSchema } from './json-schema'
import { unkeptIn } from './kept'
import { lenient } from './lenient'
import { MemberBudget, tooManyMembers } from './member-budget'
import { isRecord } from './record'

interface ParseOptions {
  readonly rules?: Family['parse']
  /** Looks at arguments that are wrong elsewhere, for what the handler would have found in the others. @throws Problem */
  readonly inspect?: (args: Record<string, unknown>) => void
  /** The effect of the call. Without it nothing is forgiven: items of batches were forgiven with their call. */
  readonly effect?: Effect
  /** Receives a warning about ignored arguments. */
  readonly warn?: (warning: string) => void
}

/**
 * Arguments to typed values, or one Problem that names everything that is wrong, each with its path, what was given and a
 * right example. Everything a string may not hold is refused here, at the door.
 */
export function parseArguments<Schema extends z.ZodType>(
  schema: Schema,
  shown: JsonSchema,
  args: unknown,
  { rules, inspect, effect, warn }: ParseOptions = {},
): z.output<Schema> {
  refuseTooMany(args)
  const read = effect !== undefined && isRecord(args) ? forgiven(shown, args, effect) : null
  for (const warning of read?.warnings ?? []) warn?.(warning)
  const value = lenient(shown, read?.args ?? args ?? {}, new MemberBudget(args))
  const judged = rules ? withoutLeft(value, shown, rules) : value
  const wrong = new Inspection()
  const unkept = noteUnkept(judged, wrong)
  // Ignored arguments have the limits of others.
  if (read !== null) noteUnkept(read.ignored, wrong)
  noteUnstorable(judged, '', wrong)
  const result = schema.safeParse(value, { reportInput: true })
  for (const issue of result.error?.issues ?? [])
    if (!unkept.has(issue.path[0] as PropertyKey)) wrong.note(describe(issue, shown))
  if (wrong.found && inspect && isRecord(value)) wrong.check('', value, () => inspect(value))
  wrong.end()
  return result.data as z.output<Schema>
}

/** Refuses arguments of which the parser kept nothing, because they have too many members. @throws Problem limit_exceeded */
function refuseTooMany(args: unknown): void {
  if (!isRecord(args)) return
  for (const argument of Object.values(args))
    if (argument instanceof Unkept && argument.flaw === 'too_many') throw tooManyMembers()
}

/** Those of the arguments that are right by themselves, as the handler would get them. */
export const soundArguments = <Input extends z.ZodObject>(
  input: Input,
  args: Record<string, unknown>,
): Partial<z.output<Input>> =>
  Object.fromEntries(
    Object.entries(input.shape).flatMap(([name, field]) => {
      const { data } = (field as z.ZodType).safeParse(args[name])
      return data === undefined ? [] : [[name, data]]
    }),
  ) as Partial<z.output<Input>>

/** Whether each of the named arguments is sound or absent, so that a rule about which of them are given can be applied. */
export const areSound = (args: Record<string, unknown>, sound: object, names: readonly string[]): boolean =>
  names.every((name) => args[name] === undefined || name in sound)

/** The arguments without those that the handler judges itself. */
const withoutLeft = (value: unknown, shown: JsonSchema, { leaves }: Family['parse']): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([name]) => !leaves(name, shown))) : value

/** What could not be kept as it was sent. @returns the arguments in which that is */
function noteUnkept(value: unknown, wrong: Inspection): Set<PropertyKey> {
  const names = new Set<PropertyKey>()
  for (const [name, argument] of isRecord(value) ? Object.entries(value) : []) {
    const problem = unkeptIn(argument, name)
    if (problem === null) continue
    names.add(name)
    wrong.check(name, argument, () => {
      throw problem
    })
  }
  return names
}

/** Looks through every string and member name, however deep. */
function noteUnstorable(value: unknown, place: string, wrong: Inspection): void {
  if (typeof value === 'string') {
    const reason = unstorable(value)
    if (reason !== null)
      wrong.refuse(place, value, `${place || 'The arguments'} ${reason}; remove it and send the text again`)
  } else if (Array.isArray(value)) {
    value.forEach((item, i) => {
      noteUnstorable(item, `${place}[${i}]`, wrong)
    })
  } else if (isRecord(value)) {
    for (const [key, member] of Object.entries(value)) {
      noteUnstorable(key, place === '' ? 'An argument name' : `A key in ${place}`, wrong)
      noteUnstorable(member, place === '' ? key : `${place}.${key}`, wrong)
    }
  }
}
