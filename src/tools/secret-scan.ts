import type { Metadata } from '../domain/entry/metadata'
import { scheduler } from '../domain/scheduler'
import { redact, redactValue } from '../domain/secrets/redact'
import { type Address, addressesIn, addressWarning, secretWarning } from '../domain/trust/agent-directed'
import { isRecord } from './record'

/** Arguments with text to scan; items of batches have the same. */
const TEXTS = ['content', 'text', 'title', 'code']
const OBJECTS = ['metadata', 'metadata_patch']
const ITEMS = ['entries', 'updates']

type Arguments = Readonly<Record<string, unknown>>

/** Arguments after a scan, with the kinds of secrets found (fabric contract §7). */
interface Screened<Args> {
  readonly args: Args
  readonly kinds: readonly string[]
  /** Phrases in the texts that address an agent. */
  readonly addresses: readonly Address[]
}

/** Returns the title that the arguments give to a text. */
function titleIn({ title, metadata, metadata_patch }: Arguments): string | null {
  const given = [title, ...[metadata, metadata_patch].map((object) => (isRecord(object) ? object.title : undefined))]
  return given.find((one): one is string => typeof one === 'string') ?? null
}

/** Scans the arguments of a write for secrets and for texts that address an agent. Yields to the scheduler on long texts. */
export async function scanArguments<Args extends Arguments>(args: Args): Promise<Screened<Args>> {
  const kinds = new Set<string>()
  const addresses = new Set<Address>()
  const walk = async (given: Arguments): Promise<Arguments> => {
    const clean: Record<string, unknown> = { ...given }
    for (const [name, value] of Object.entries(given)) {
      if (TEXTS.includes(name) && typeof value === 'string') {
        clean[name] = redact(value, kinds)
        if (name !== 'code')
          for (const address of addressesIn(value, name === 'title' ? null : titleIn(given))) addresses.add(address)
        await scheduler.tick(value.length)
      } else if (OBJECTS.includes(name) && isRecord(value)) {
        clean[name] = redactValue(value as Metadata, '', kinds)
        if (typeof value.title === 'string') for (const address of addressesIn(value.title)) addresses.add(address)
      } else if (ITEMS.includes(name) && Array.isArray(value)) {
        const items: unknown[] = []
        for (const item of value) items.push(isRecord(item) ? await walk(item) : item)
        clean[name] = items
      }
    }
    return clean
  }
  return { args: (await walk(args)) as Args, kinds: [...kinds], addresses: [...addresses] }
}

/** Appends warnings to the result of a write. */
export function withWarnings(result: Record<string, unknown>, more: readonly string[]): Record<string, unknown> {
  if (more.length === 0) return result
  const { warnings = [], ...rest } = result
  return { ...rest, warnings: [...(warnings as string[]), ...more] }
}

/** Returns the warning about texts that address an agent; hooks leave such texts out (capture contract §3). */
export const addressWarnings = (addresses: readonly Address[]): readonly string[] =>
  addresses.length === 0 ? [] : [addressWarning(addresses)]

/** Appends a warning about possible secrets to the result of a write. */
export const withWarning = (result: Record<string, unknown>, kinds: readonly string[]): Record<string, unknown> =>
  withWarnings(result, kinds.length === 0 ? [] : [secretWarning(kinds)])
