// The story of the demonstration: Claude Code works on a project and is killed; the next day Codex starts in a clone of the same
// repository on another machine, and its model receives the decision and the state of the work.

/**
 * @typedef {object} Player runs the clients: from recorded events, or the real programs
 * @property {string} by
 * @property {(name: string) => Promise<unknown>} desk a machine with its own home and a clone of the repository
 * @property {(desk: any) => Promise<void>} work Claude Code does a turn, begins the next, and is killed in the middle of it
 * @property {(desk: any) => Promise<string>} begin Codex starts; the text between the marks that its first model request holds
 */

export const FIRST = 'Fix the harbour light'
export const SECOND = 'Now the fog horn'
export const DECIDED = 'We decided to use LED lamps instead of oil. The light works again.'

/**
 * @param {{ url: string, pass: (minutes: number) => Promise<void> }} server
 * @param {Player} player
 * @param {(line: string) => void} say
 * @returns {Promise<string>} the text that Codex's model received
 */
export async function tellStory(server, player, say) {
  say(`Monday, on Ada's machine: Claude Code (${player.by}) is asked "${FIRST}", then "${SECOND}".`)
  const ada = await player.desk('ada')
  await player.work(ada)
  say('It is killed during that turn (kill -9).')
  await server.pass(24 * 60)
  say("Tuesday, on Bob's machine: Codex starts in a clone of the repository. Its first model request holds:")
  const told = await player.begin(await player.desk('bob'))
  say(told.replace(/^/gm, '    '))
  return told
}
