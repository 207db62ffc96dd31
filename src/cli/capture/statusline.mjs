// `commonplace statusline`: one line about memory in a session, for Claude Code's status line. (capture contract §6)
import { homedir } from 'node:os'
import { text } from 'node:stream/consumers'

const HOOK = new URL('../../../plugins/commonplace/hook.mjs', import.meta.url).href

/** Reads what Claude Code sends to a status line; without that it shows what waits. Asks no server. */
export async function statusline() {
  const input = process.stdin.isTTY ? '' : await text(process.stdin)
  let event = {}
  try {
    event = JSON.parse(input) ?? {}
  } catch {
    // A person has called it without an event.
  }
  const { statusLine } = await import(HOOK)
  console.log(statusLine(homedir(), event))
}
