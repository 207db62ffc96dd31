import { isMap, LineCounter, parseDocument, type Scalar, type YAMLMap, YAMLSeq } from 'yaml'

/** A wrong file of memory tests; the message names the line and the member. */
export class FileProblem extends Error {}

/** A memory that a test names: by its ID, or by its title. */
export interface NamedMemory {
  readonly id?: number
  readonly title?: string
  /** A part of its text. */
  readonly contains?: string
  /** The beginning of the SHA-256 of its text, hexadecimal. */
  readonly sha256?: string
  /** It must be one of this many first results. */
  readonly within?: number
}

/** One call, with memories that it must and must not return. */
export interface MemoryTest {
  readonly name: string
  readonly tool: 'context' | 'search'
  /** Arguments of the tool. */
  readonly args: Readonly<Record<string, unknown>>
  readonly must: readonly NamedMemory[]
  readonly mustNot: readonly NamedMemory[]
  readonly line: number
}

const OF_BOTH = ['project', 'kind', 'since', 'captured', 'limit'] as const
const ARGUMENTS = {
  context: [...OF_BOTH, 'max_tokens'],
  search: [...OF_BOTH, 'tags', 'by', 'until', 'thread', 'mode'],
} as const
const OF_TEST = ['name', 'tool', 'goal', 'query', 'must', 'must_not', 'within']
const OF_MEMORY = ['id', 'title', 'contains', 'sha256', 'within']
/** Hexadecimal digits of a pin. */
const PIN = 16

type Fields = Readonly<Record<string, unknown>>

const isPositive = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) > 0
const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== ''
const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Throws for members that a map must not have. */
function checkMembers(at: string, given: Fields, known: readonly string[]): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name))
  if (unknown !== undefined)
    throw new FileProblem(`${at}: unknown member "${unknown}". Use one of: ${known.join(', ')}`)
}

function readMemory(at: string, given: unknown, within: number | undefined): NamedMemory {
  const tight = within === undefined ? {} : { within }
  if (isPositive(given)) return { id: given, ...tight }
  if (isText(given)) return { title: given.trim(), ...tight }
  if (!isFields(given)) throw new FileProblem(`${at} must be an ID, a title, or a map with id or title`)
  checkMembers(at, given, OF_MEMORY)
  const { id, title, contains, sha256 } = given
  if ((id === undefined) === (title === undefined)) throw new FileProblem(`${at} needs either id or title`)
  if (id !== undefined && !isPositive(id)) throw new FileProblem(`${at}: id must be a positive integer`)
  if (title !== undefined && !isText(title)) throw new FileProblem(`${at}: title must be a text`)
  if (contains !== undefined && !isText(contains)) throw new FileProblem(`${at}: contains must be a text`)
  if (sha256 !== undefined && !(isText(sha256) && /^[0-9a-f]{8,64}$/.test(sha256)))
    throw new FileProblem(`${at}: sha256 must be 8 to 64 hexadecimal digits in quotes; --pin writes them`)
  if (given.within !== undefined && !isPositive(given.within))
    throw new FileProblem(`${at}: within must be a positive integer`)
  return { ...tight, ...given } as NamedMemory
}

function readMemories(at: string, given: unknown, within: number | undefined): NamedMemory[] {
  if (given === undefined || given === null) return []
  const list = Array.isArray(given) ? given : [given]
  return list.map((one, i) => readMemory(`${at}[${i}]`, one, within))
}

function readTest(at: string, given: unknown, defaults: Fields, line: number): MemoryTest {
  if (!isFields(given)) throw new FileProblem(`${at} must be a map with goal or query, and must or must_not`)
  const { name, goal, query } = given
  if ((goal === undefined) === (query === undefined)) throw new FileProblem(`${at} needs either goal or query`)
  const tool = given.tool ?? (goal === undefined ? 'search' : 'context')
  if (tool !== 'context' && tool !== 'search') throw new FileProblem(`${at}: tool must be context or search`)
  const asked = tool === 'context' ? 'goal' : 'query'
  const text = goal ?? query
  if (!isText(text)) throw new FileProblem(`${at}: ${goal === undefined ? 'query' : 'goal'} must be a text`)
  if (name !== undefined && !isText(name)) throw new FileProblem(`${at}: name must be a text`)
  if (given.within !== undefined && !isPositive(given.within))
    throw new FileProblem(`${at}: within must be a positive integer`)
  checkMembers(at, given, [...OF_TEST, ...ARGUMENTS[tool]])
  const must = readMemories(`${at}.must`, given.must, given.within as number | undefined)
  const mustNot = readMemories(`${at}.must_not`, given.must_not, undefined)
  if (must.length + mustNot.length === 0) throw new FileProblem(`${at} needs must or must_not`)
  const known: readonly string[] = ARGUMENTS[tool]
  const args = Object.fromEntries(
    Object.entries({ ...defaults, ...given })
      .filter(([member, value]) => known.includes(member) && value !== undefined && value !== null)
      .map(([member, value]) => [member, ['kind', 'tags'].includes(member) && isText(value) ? [value] : value]),
  )
  return { name: name ?? text, tool, args: { ...args, [asked]: text }, must, mustNot, line }
}

function parsed(text: string) {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines })
  const [error] = document.errors
  if (error !== undefined) throw new FileProblem(error.message)
  return { document, lines }
}

/** Expands aliases, of which a hostile file can have very many. */
function expanded(document: ReturnType<typeof parseDocument>): unknown {
  try {
    return document.toJS()
  } catch (error) {
    throw new FileProblem((error as Error).message)
  }
}

/**
 * Reads a file of memory tests, YAML or JSON.
 *
 * @throws FileProblem that names the line and the member
 */
export function readTests(text: string): MemoryTest[] {
  const { document, lines } = parsed(text)
  const content = expanded(document)
  if (!isFields(content)) throw new FileProblem('The file must be a map with the member tests')
  checkMembers('The file', content, ['tests', 'project'])
  const { tests, project } = content
  if (!Array.isArray(tests) || tests.length === 0) throw new FileProblem('tests must be a list with at least one test')
  if (project !== undefined && !isText(project)) throw new FileProblem('project must be a text')
  const nodes = (document.get('tests') as YAMLSeq).items
  return tests.map((one, i) => {
    const { range } = nodes[i] as YAMLMap
    const { line } = lines.linePos(range?.[0] ?? 0)
    return readTest(`line ${line}: tests[${i}]`, one, project === undefined ? {} : { project }, line)
  })
}

/** Where and with which text a call returned a memory of `must`. */
export interface Pin {
  readonly test: number
  readonly memory: number
  readonly place: number
  readonly sha256: string
}

/** The same file, in which each of these memories has its text's hash and its place. Comments are retained. */
export function pinned(text: string, pins: readonly Pin[]): string {
  const { document } = parsed(text)
  for (const { test, memory, place, sha256 } of pins) {
    const path = ['tests', test, 'must']
    if (!(document.getIn(path) instanceof YAMLSeq)) document.setIn(path, document.createNode([document.getIn(path)]))
    const node = document.getIn([...path, memory])
    if (!isMap(node)) {
      const map = document.createNode(typeof node === 'number' ? { id: node } : { title: node }, { flow: true })
      map.comment = (document.getIn([...path, memory], true) as Scalar).comment ?? null
      document.setIn([...path, memory], map)
    }
    document.setIn([...path, memory, 'sha256'], sha256.slice(0, PIN))
    document.setIn([...path, memory, 'within'], place)
  }
  return /^\s*\{/.test(text) ? `${JSON.stringify(document.toJS(), null, 2)}\n` : document.toString({ lineWidth: 0 })
}
