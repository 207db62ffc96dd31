// The README's example of two agents that share a memory, over MCP: `node scripts/transcript.mjs [URL]` runs it on a server with an empty
// store, and a test compares the README with it.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

/** The calls of both agents, in order. @type {readonly (readonly [who: string, tool: string, args: Record<string, unknown>])[]} */
const PLAYED = [
  [
    'Claude Code',
    'remember',
    {
      title: 'Refunds carry an idempotency key',
      content: 'A retried refund paid twice. The key is the booking id; the provider keeps it for 24 hours.',
      ...{ kind: 'decision', project: 'ferry' },
    },
  ],
  [
    'Codex',
    'remember',
    {
      title: 'Staging has no unique index on refunds',
      content: 'Double refunds pass on staging. Test against production data.',
      ...{ kind: 'gotcha', project: 'ferry', related_to: ['references:1'] },
    },
  ],
  ['Cursor', 'context', { goal: 'make refunds safe to retry', project: 'ferry' }],
  ['Cursor', 'search', { query: 'why did a refund pay twice?' }],
]

/** Characters per line. */
const WIDTH = 120

/** Formats a call, in as many lines as it needs. @param {string} tool @param {Record<string, unknown>} args */
function written(tool, args) {
  const lines = [`${tool}(`]
  Object.entries(args).forEach(([name, value], i, all) => {
    const said = `${name}: ${JSON.stringify(value)}${i === all.length - 1 ? ')' : ', '}`
    const last = lines.length - 1
    if (`${lines[last]}${said}`.length <= WIDTH) lines[last] += said
    else lines.push(`    ${said}`)
  })
  return lines.map((line) => line.trimEnd())
}

/** Returns the lines of a result that are shown. @param {string} tool @param {any} result @returns {string[]} */
function told(tool, result) {
  if (tool === 'remember') return [`→ memory ${result.id}`]
  if (tool === 'context')
    return result.sections.flatMap((/** @type {any} */ { title, memories }) =>
      memories.map((/** @type {any} */ item) => `→ ${title}: [${item.id}] ${item.title} (${item.why})`),
    )
  return result.results.map((/** @type {any} */ { id, content }) => `→ [${id}] ${content.split('\n').at(-1)}`)
}

/**
 * @param {string | URL} origin of a server in open mode with an empty store
 * @returns {Promise<string[]>} lines
 */
export async function playTranscript(origin) {
  const lines = []
  let last = ''
  for (const [who, tool, args] of PLAYED) {
    const client = new Client({ name: who, version: '1' })
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp/core', origin)))
    const { structuredContent, isError } = await client.callTool({ name: tool, arguments: args })
    await client.close()
    if (isError === true) throw new Error(`${tool}: ${JSON.stringify(structuredContent)}`)
    if (who !== last) lines.push(`# ${who}`)
    last = who
    lines.push(...written(tool, args), ...told(tool, structuredContent).map((line) => `  ${line}`))
  }
  return lines
}

if (process.argv[1]?.endsWith('transcript.mjs')) {
  const origin = process.argv[2] ?? 'http://localhost:8787'
  try {
    console.log((await playTranscript(origin)).join('\n'))
  } catch (error) {
    const { message, cause } = /** @type {Error & { cause?: Error }} */ (error)
    const help =
      cause === undefined
        ? ''
        : `: ${cause.message}. Start a server (npm start), or pass one: node scripts/transcript.mjs URL`
    console.error(`${origin} failed to run it (${message})${help}`)
    process.exitCode = 1
  }
}
